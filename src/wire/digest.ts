import { blake3 } from '@noble/hashes/blake3.js'
import { bytesToHex } from '@noble/hashes/utils.js'

const encoder = new TextEncoder()

/** Returns the BLAKE3 hash of bytes, or of a text as UTF-8, as 64 lower-case hex digits. */
export function blake3Hex(source: Uint8Array | string): string {
  return bytesToHex(blake3(typeof source === 'string' ? encoder.encode(source) : source))
}

/** Returns the SHA-256 hash of a text as UTF-8. */
export async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(text)))
}

/** Returns the SHA-256 hash of a text as UTF-8, as 64 lower-case hex digits. */
export async function sha256Hex(text: string): Promise<string> {
  return bytesToHex(await sha256(text))
}

/** Compares two digests. The time depends only on whether their lengths are equal. */
export function constantTimeEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let at = 0; at < a.length; at++) difference |= (a[at] ?? 0) ^ (b[at] ?? 0)
  return difference === 0
}
