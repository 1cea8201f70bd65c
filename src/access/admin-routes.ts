import type { RefusedRequests, SpendFlusher } from '../accounting/index.ts'
import {
  type AdminRequest,
  type AdminRoutes,
  auditRoutes,
  cacheRoutes,
  configRoutes,
  explainRoutes,
  groupRoutes,
  keyRoutes,
  modelRoutes,
  providerCheckRoutes,
  providerKeyRoutes,
  repriceRoutes,
  requestRoutes,
  requireMasterKey,
  routeRoutes,
  settingsRoutes,
  statusRoutes,
  usageRoutes,
  webhookRoutes,
} from '../admin/index.ts'
import { explainAdminLogin, type MasterKey } from '../auth/index.ts'
import type { Clock, Log } from '../core/ports.ts'
import type { RecentRequests } from '../records/index.ts'
import type { Store } from '../store/index.ts'
import type { Webhooks } from '../webhooks/index.ts'
import type { AdminDeps } from './access-control.ts'
import { createAudit } from './audit.ts'
import type { KeyAccounts } from './key-accounts.ts'

export interface AdminParts {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  readonly master: MasterKey
  readonly webhooks: Webhooks
  readonly accounts: KeyAccounts
  readonly flusher: Pick<SpendFlusher, 'flush'>
  readonly refused: Pick<RefusedRequests, 'flush'>
  readonly recent: RecentRequests
}

/** Every route under `/admin`, guarded by the master key. */
export function createAdminRoutes(parts: AdminParts, deps: AdminDeps): AdminRoutes {
  const { store, clock, log, master, webhooks, accounts, flusher, refused, recent } = parts
  const { document, providers, reloadProviderKeys, bodyLimit, bodyLimiter, clearCache } = deps
  const { inFlight, pins, circuits, pools, rooms, credentials, health, flushRecords } = deps
  const { explain, workers } = deps
  const { ring, registry, refusedLogins, findSender } = accounts
  const { notify } = webhooks
  const flush = () => flusher.flush()
  const shared = { clock, bodyLimit, bodyLimiter, audit: createAudit({ store, clock, log }) }
  const routes = {
    ...keyRoutes({ ...shared, store, accounts: registry, flush, ring, notify }),
    ...groupRoutes({ ...shared, store, accounts: registry, flush }),
    ...usageRoutes({ store, clock }),
    ...repriceRoutes({ ...shared, store, findModel: deps.findModel }),
    ...auditRoutes({ store, clock }),
    ...requestRoutes({
      store,
      clock,
      workers,
      save: async () => void (await Promise.all([flush(), refused.flush()])),
    }),
    ...statusRoutes({
      clock,
      recent,
      flushRecords,
      inFlight,
      pins,
      circuits,
      pools,
      rooms,
      modelLists: deps.modelLists,
      credentials,
      health,
      workers,
    }),
    ...modelRoutes(deps),
    ...routeRoutes(deps),
    ...settingsRoutes(deps),
    ...configRoutes({ ...shared, document }),
    ...explainRoutes({ ...shared, explain, findSender }),
    ...providerCheckRoutes({ ...shared, checkProvider: deps.checkProvider }),
    ...cacheRoutes({ ...shared, clear: clearCache, workers }),
    ...providerKeyRoutes({
      ...shared,
      store,
      providers,
      sealer: master.sealer,
      reload: reloadProviderKeys,
    }),
    ...webhookRoutes({ ...shared, webhooks }),
  }
  const refuse = ({ request, context }: AdminRequest) =>
    refusedLogins.add({
      request,
      origin: context,
      status: 401,
      why: () => explainAdminLogin(request.headers),
    })
  return requireMasterKey(routes, { master, refused: refuse })
}
