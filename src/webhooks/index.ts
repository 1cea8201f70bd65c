export type { WebhookSettings } from './settings.ts'
export { unsigned } from './signing.ts'
export {
  openWebhooks,
  UnsignedWebhooks,
  type WebhookState,
  Webhooks,
  whyUnsigned,
} from './webhooks.ts'
