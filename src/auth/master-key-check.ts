import type { Clock } from '../core/ports.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import type { Store } from '../store/index.ts'
import { SealError, type Sealer } from '../wire/seal.ts'

/** The database belongs to another master key. */
export class MasterKeyMismatchError extends Error {
  override readonly name = 'MasterKeyMismatchError'

  constructor() {
    super(
      'the database was made with another master key: set GATEWAY_MASTER_KEY to that one, ' +
        'or use a new database',
    )
  }
}

const label = { purpose: 'canary', name: 'master-key' } as const
const plaintext = 'the master key of this database'

/**
 * Rejects with a `ForeignMasterKey` when what is sealed in the database cannot be opened. A fresh
 * database is marked as belonging to this master key.
 */
export async function checkMasterKey(
  store: Pick<Store, 'readSealed' | 'putSealed'>,
  { sealer, clock }: { readonly sealer: Sealer; readonly clock: Clock },
): Promise<void> {
  const [row] = await store.readSealed(label.purpose)
  if (!row) {
    const updatedAt = unixSeconds(clock)
    return store.putSealed({ ...label, sealed: await sealer.seal(label, plaintext), updatedAt })
  }
  await sealer.open(label, row.sealed).catch((error: unknown) => {
    throw error instanceof SealError ? new MasterKeyMismatchError() : error
  })
}
