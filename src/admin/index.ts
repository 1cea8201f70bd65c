export { type AuditRouteDeps, auditRoutes } from './audit.ts'
export { type CacheRouteDeps, cacheRoutes } from './cache.ts'
export { type ConfigDocument, type ConfigRouteDeps, configRoutes } from './config.ts'
export { type ExplainRouteDeps, explainRoutes } from './explain.ts'
export { type GroupRouteDeps, groupRoutes } from './groups.ts'
export { requireMasterKey } from './guard.ts'
export type { AdminRequest, AdminRoutes } from './input.ts'
export { type KeyRouteDeps, keyRoutes } from './keys.ts'
export { type ModelRouteDeps, modelRoutes } from './models.ts'
export { type OwnKeyRouteDeps, ownKeyRoutes } from './own-key.ts'
export {
  type ProviderCheckRouteDeps,
  providerCheckRoutes,
  renderCheck,
} from './provider-check.ts'
export {
  LockedProviderKeyError,
  openProviderKeys,
  type ProviderKeyRouteDeps,
  providerKeyRoutes,
} from './provider-keys.ts'
export { type RequestRouteDeps, requestRoutes } from './requests.ts'
export { type RouteRouteDeps, routeRoutes } from './routes.ts'
export { type SettingsRouteDeps, settingsRoutes } from './settings.ts'
export {
  type Circuit,
  type CredentialPool,
  type CredentialStates,
  type StatusRouteDeps,
  statusRoutes,
} from './status.ts'
export { type UsageRouteDeps, usageRoutes } from './usage.ts'
export { type RepriceRouteDeps, repriceRoutes } from './usage-reprice.ts'
export { type WebhookRouteDeps, webhookRoutes } from './webhooks.ts'
