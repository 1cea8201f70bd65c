export { type ConfigDesk, configRoutes } from './config.ts'
export { type GroupDesk, groupRoutes } from './groups.ts'
export { guarded } from './guard.ts'
export { type AdminRequest, type AdminRoutes, nameField } from './input.ts'
export { type KeyDesk, keyRoutes } from './keys.ts'
export {
  LockedProviderKey,
  openProviderKeys,
  type ProviderKeyDesk,
  providerKeyRoutes,
} from './provider-keys.ts'
export { renderKey } from './render.ts'
export { type UsageDesk, usageRoutes } from './usage.ts'
export { type WebhookDesk, webhookRoutes } from './webhooks.ts'
