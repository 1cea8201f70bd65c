export type { WebhookSettings } from './settings.ts'
export { unsigned } from './signing-key.ts'
export {
  findUnsignedError,
  openWebhooks,
  UnsignedWebhooksError,
  type WebhookState,
  Webhooks,
} from './webhooks.ts'
