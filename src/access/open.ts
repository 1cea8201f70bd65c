import { recoverUsage } from '../accounting/index.ts'
import { openProviderKeys } from '../admin/index.ts'
import { checkMasterKey, openMasterKey } from '../auth/index.ts'
import { ConfigError } from '../core/start-error.ts'
import type { AccountRows } from '../store/index.ts'
import { openWebhooks } from '../webhooks/index.ts'
import type { AccessControl, AccessOptions } from './access-control.ts'
import { createKeyedAccess, type KeyedAccessOptions } from './keyed.ts'
import { noAccessControl } from './none.ts'
import { openClaimedStore } from './open-store.ts'
import { toStartError } from './start-checks.ts'

/** Access control and the stored provider keys of the first snapshot: failures here end the start. */
export interface OpenedAccess {
  readonly access: AccessControl
  readonly storedKeys: ReadonlyMap<string, string>
}

/** Opens the database when auth is on. Rejects with a `ConfigError` or a `StartError`. */
export async function openAccess(options: AccessOptions): Promise<OpenedAccess> {
  const { config, env, openStore } = options
  if (!config.auth.enabled) return { access: noAccessControl, storedKeys: new Map() }
  if (!openStore) {
    throw new ConfigError(['auth.enabled: this host has no database, so auth must be off'])
  }
  try {
    const master = await openMasterKey(env['GATEWAY_MASTER_KEY'])
    const store = await openClaimedStore({ ...options, openStore })
    return await openKeyed({ ...options, master, store }).catch(async (error: unknown) => {
      await store.close()
      throw error
    })
  } catch (error) {
    throw toStartError(error)
  }
}

async function openKeyed(
  options: Omit<KeyedAccessOptions, 'webhooks' | 'rows' | 'before' | 'known'>,
): Promise<OpenedAccess> {
  const { config, store, master, clock, log } = options
  const { sealer } = master
  // First: what changes from here on is read again.
  const known = await store.readChanges()
  await checkMasterKey(store, { sealer, clock })
  const webhooks = await openWebhooks({ ...options, sealer }, config.webhooks)
  const storedKeys = await openProviderKeys(store, sealer)
  let before: AccountRows | undefined
  const onFound = async () => {
    before = await store.readAccounts()
  }
  // Before the accounts: their spend includes that of these rows.
  await recoverUsage({ journal: store.journal, store, log, onFound })
  const rows = await store.readAccounts()
  log.write('info', 'auth is on', { keys: rows.keys.length, groups: rows.groups.length })
  // Last, because this starts timers.
  return { access: createKeyedAccess({ ...options, webhooks, rows, before, known }), storedKeys }
}
