import { answerForClaim, meetClaims } from '../shared/index.ts'
import { databaseShared, type OpenStore, type Store, StoreFault } from '../store/index.ts'
import type { AccessOptions } from './access-control.ts'
import { announceChanges } from './announced-store.ts'

export interface OpenStoreOptions
  extends Pick<
    AccessOptions,
    'config' | 'env' | 'log' | 'clock' | 'allowSecond' | 'shared' | 'sharing'
  > {
  readonly openStore: OpenStore
}

/** Opens the database with the claim of this gateway, and answers for that to others. */
export async function openClaimedStore(options: OpenStoreOptions): Promise<Store> {
  const { shared } = options
  const store = await openOrJoin(options)
  if (!shared) return store
  if (store.claimId !== undefined) answerForClaim(shared, store.claimId)
  return announceChanges(store, shared)
}

/** Joins gateways that have another name for the shared state once one of them was met there. */
async function openOrJoin(options: OpenStoreOptions): Promise<Store> {
  const { shared, clock } = options
  try {
    return await open(options, [])
  } catch (error) {
    if (!shared || !isShared(error)) throw error
    if (!shared.isUp) throw extend(error, 'which is away, so the two cannot be compared')
    for await (const met of meetClaims({ shared, clock })) {
      try {
        return await open(options, met)
      } catch (fault) {
        if (!isShared(fault)) throw fault
      }
    }
    throw extend(error, 'where the other one does not answer')
  }
}

function open(options: OpenStoreOptions, met: readonly string[]): Promise<Store> {
  const { config, env, log, openStore, allowSecond, sharing } = options
  return openStore({
    path: config.auth.db_path,
    token: env['GATEWAY_DB_AUTH_TOKEN'],
    journalFolder: config.auth.journal_dir,
    claim: { sharing, met, onConflict: allowSecond ? 'report' : 'reject' },
    report: (message, fields, level = 'error') => log.write(level, message, fields),
  })
}

function isShared(error: unknown): error is StoreFault {
  return error instanceof StoreFault && error.code === databaseShared
}

function extend({ message, code }: StoreFault, reason: string): StoreFault {
  return new StoreFault(`${message}, ${reason}`, code)
}
