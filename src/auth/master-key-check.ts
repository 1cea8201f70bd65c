import type { Clock } from '../core/ports.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import type { SealedRow, Store } from '../store/index.ts'
import { SealError, type Sealer } from '../wire/seal.ts'

/** The sealed values of the database were written with another master key. */
export class MasterKeyMismatchError extends Error {
  override readonly name = 'MasterKeyMismatchError'

  constructor() {
    super(
      'the database was created with another master key: set GATEWAY_MASTER_KEY to that key, ' +
        'or use a new database',
    )
  }
}

/**
 * Rejects with a `MasterKeyMismatchError` when the database was created with another master key.
 * Binds a new database to this one.
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

/** Finds the value that `checkMasterKey` seals. */
export function findMasterKeyCheck(rows: readonly SealedRow[]): SealedRow | undefined {
  return rows.find(({ purpose, name }) => purpose === label.purpose && name === label.name)
}

/** Every database holds this text sealed. Label and text are part of the stored format. */
const label = { purpose: 'canary', name: 'master-key' } as const
const plaintext = 'the master key of this database'
