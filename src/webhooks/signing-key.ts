import type { Environment } from '../core/ports.ts'
import type { SealedRow, Store } from '../store/index.ts'
import { SealError, type Sealer } from '../wire/seal.ts'

/** How deliveries are signed, and with which secret. */
export type SigningMode =
  | { readonly kind: 'signed'; readonly secret: string }
  | { readonly kind: 'unsigned' }
  /** The stored secret cannot be decrypted. Deliveries fail: unsigned ones could be forged. */
  | { readonly kind: 'locked' }

export const unsigned: SigningMode = Object.freeze({ kind: 'unsigned' })

/** The two sources of signing keys: the environment and the database. */
export interface SigningKeys {
  readonly env: Environment
  readonly stored: SigningMode
}

/** The variable that the file names takes precedence over the stored secret, if it is set. */
export function resolveSigning(
  variable: string | undefined,
  { env, stored }: SigningKeys,
): SigningMode {
  const secret = variable === undefined ? undefined : env[variable]
  return secret === undefined || secret === '' ? stored : { kind: 'signed', secret }
}

/** There is one receiver, hence one secret. */
const label = { purpose: 'webhook-signing-key', name: 'receiver' } as const

export async function sealSigningKey(
  secret: string,
  { sealer, updatedAt }: { readonly sealer: Sealer; readonly updatedAt: number },
): Promise<SealedRow> {
  return { ...label, sealed: await sealer.seal(label, secret), updatedAt }
}

/** Opens the stored secret. */
export async function openSigningKey(
  store: Pick<Store, 'readSealed'>,
  sealer: Sealer,
): Promise<SigningMode> {
  const [row] = await store.readSealed(label.purpose)
  if (!row) return unsigned
  try {
    return { kind: 'signed', secret: await sealer.open(label, row.sealed) }
  } catch (error) {
    if (error instanceof SealError) return { kind: 'locked' }
    throw error
  }
}

export function deleteSigningKey(store: Pick<Store, 'deleteSealed'>): Promise<boolean> {
  return store.deleteSealed(label.purpose, label.name)
}
