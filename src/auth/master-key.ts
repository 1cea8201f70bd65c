import { hexToBytes } from '@noble/hashes/utils.js'
import { constantTimeEqual, sha256 } from '../wire/digest.ts'
import { Sealer } from '../wire/seal.ts'
import { bearerToken } from './key-ring.ts'

/** The two uses of the master key. The key itself is not kept. */
export interface MasterKey {
  /** Whether the headers carry the master key. Takes the same time for every other credential. */
  isPresentedIn(headers: Headers): Promise<boolean>
  readonly sealer: Sealer
}

/** The value of `GATEWAY_MASTER_KEY` is unusable. The message never contains it. */
export class MasterKeyError extends Error {
  override readonly name = 'MasterKeyError'
}

/**
 * Opens the value of `GATEWAY_MASTER_KEY`, or of another variable. Rejects with a `MasterKeyError`
 * when it is not a key.
 */
export async function openMasterKey(
  value: string | undefined,
  variable = 'GATEWAY_MASTER_KEY',
): Promise<MasterKey> {
  if (value === undefined || value === '') {
    throw new MasterKeyError(`${variable}: is not set; with auth on it ${rule}`)
  }
  if (!/^[0-9a-fA-F]{64}$/.test(value)) throw new MasterKeyError(`${variable}: ${rule}`)
  // Bearer and sealing share no bytes: one uses a digest of the text, the other derived keys.
  const digest = await sha256(value)
  return {
    isPresentedIn: async (headers) =>
      constantTimeEqual(await sha256(bearerToken(headers) ?? ''), digest),
    sealer: await Sealer.create(hexToBytes(value)),
  }
}

const rule = 'must be 64 hex digits, as `openssl rand -hex 32` prints them'
