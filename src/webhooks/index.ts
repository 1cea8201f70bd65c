export type { WebhookSettings } from './settings.ts'
export { openWebhooks, UnsignedWebhooks, type WebhookState, Webhooks } from './webhooks.ts'
