import { blake3 } from '@noble/hashes/blake3.js'
import { bytesToHex } from '@noble/hashes/utils.js'

const encoder = new TextEncoder()

/** BLAKE3 of bytes, or of the UTF-8 of a text: 64 lowercase hex digits. */
export function blake3Hex(source: Uint8Array | string): string {
  return bytesToHex(blake3(typeof source === 'string' ? encoder.encode(source) : source))
}

/** SHA-256 of the UTF-8 of a text. */
export async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(text)))
}

/** Compares in a time that tells nothing but whether the lengths are equal. Meant for digests. */
export function constantTimeEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let at = 0; at < a.length; at++) difference |= (a[at] ?? 0) ^ (b[at] ?? 0)
  return difference === 0
}
