import type { AuditEntry } from '../core/audit.ts'
import { type SealedRow, type Store, sealedPurposes } from '../store/index.ts'
import { SealError, type Sealer } from '../wire/seal.ts'
import { findMasterKeyCheck } from './master-key-check.ts'

export interface MasterKeyRotation {
  readonly store: Pick<Store, 'readSealed' | 'audited'>
  /** The key that the database has. */
  readonly from: Sealer
  readonly to: Sealer
  /** The row that the audit log gets. */
  readonly entry: AuditEntry
}

/** The outcome of a rotation. Only `rotated` has changed the database. */
export type MasterKeyRotationResult =
  | { readonly kind: 'rotated'; readonly values: number }
  /** The database has the new key already. */
  | { readonly kind: 'already-rotated' }
  /** The database is new: it has no master key. */
  | { readonly kind: 'no-key' }
  | { readonly kind: 'wrong-old-key' }
  /** A value was altered or sealed with another key. */
  | { readonly kind: 'unreadable'; readonly value: Pick<SealedRow, 'purpose' | 'name'> }

/**
 * Seals all stored secrets again, from one master key to another, in one transaction with the
 * value by which a start recognizes the master key. No gateway may use the database meanwhile.
 */
export async function rotateMasterKey({
  store,
  from,
  to,
  entry,
}: MasterKeyRotation): Promise<MasterKeyRotationResult> {
  const rows: SealedRow[] = []
  for (const purpose of sealedPurposes) rows.push(...(await store.readSealed(purpose)))
  const check = findMasterKeyCheck(rows)
  if (!check) return { kind: 'no-key' }
  if ((await tryOpen(from, check)) === undefined) {
    const isRotated = (await tryOpen(to, check)) !== undefined
    return { kind: isRotated ? 'already-rotated' : 'wrong-old-key' }
  }
  const resealed: SealedRow[] = []
  for (const row of rows) {
    const text = await tryOpen(from, row)
    if (text === undefined) return { kind: 'unreadable', value: row }
    resealed.push({ ...row, sealed: await to.seal(row, text) })
  }
  await store.audited(entry).replaceSealed(resealed)
  return { kind: 'rotated', values: resealed.length - 1 }
}

/** Returns the text of a sealed value; undefined when this key did not seal it. */
async function tryOpen(sealer: Sealer, row: SealedRow): Promise<string | undefined> {
  try {
    return await sealer.open(row, row.sealed)
  } catch (error) {
    if (error instanceof SealError) return undefined
    throw error
  }
}
