import { type AdminRoutes, groupRoutes, keyRoutes } from '../admin/index.ts'
import type { Bytes } from '../core/ids.ts'
import type { Clock, Log } from '../core/ports.ts'
import type { Store } from '../store/index.ts'
import { BodyLimiter } from '../wire/body-limiter.ts'
import { Buffers } from '../wire/buffers.ts'
import { createAudit } from './audit.ts'
import { createKeyAccounts } from './key-accounts.ts'

export interface DatabaseRouteOptions {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
}

const bodyLimit: Bytes = 1024 * 1024

/**
 * Creates the routes that show keys and groups and create keys, over a database alone. They need no
 * master key, and do no harm beside a running gateway: it learns of a new key when it reloads.
 */
export async function createDatabaseRoutes({
  store,
  clock,
  log,
}: DatabaseRouteOptions): Promise<AdminRoutes> {
  const { registry, ring, load } = createKeyAccounts({
    store,
    clock,
    log,
    fingerprint: undefined,
    webhooks: { percentages: () => [], notify: ignore },
    reserveOutputTokens: () => 0,
  })
  load(await store.readAccounts())
  const bodyLimiter = new BodyLimiter(new Buffers(() => bodyLimit), () => 1)
  const body = { clock, bodyLimit: () => bodyLimit, bodyLimiter }
  const audit = createAudit({ store, clock, log })
  const shared = { ...body, store, accounts: registry, audit, flush: async () => {} }
  const keys = keyRoutes({ ...shared, ring, notify: ignore })
  const shown = Object.entries({ ...keys, ...groupRoutes(shared) }).flatMap(([path, { GET }]) =>
    GET ? [[path, { GET }] as const] : [],
  )
  return { ...Object.fromEntries(shown), '/admin/keys': keys['/admin/keys'] ?? {} }
}

function ignore(): void {}
