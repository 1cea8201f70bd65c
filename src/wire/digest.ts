import { blake3 } from '@noble/hashes/blake3.js'
import { bytesToHex } from '@noble/hashes/utils.js'

const encoder = new TextEncoder()

/** BLAKE3 of bytes, or of the UTF-8 of a text: 64 lowercase hex digits. */
export function blake3Hex(source: Uint8Array | string): string {
  if (typeof source !== 'string') return hexOf(source)
  if (source.length > scratch.length / mostBytes) return hexOf(encoder.encode(source))
  const { written } = encoder.encodeInto(source, scratch)
  const hex = hexOf(scratch.subarray(0, written))
  // The text may have been a secret.
  scratch.fill(0, 0, written)
  return hex
}

/** For short texts: one is hashed for each request, and what is made anew for that costs half the time. */
const scratch = new Uint8Array(384)
/** Of one UTF-16 unit in UTF-8. */
const mostBytes = 3

const untouched = blake3.create()
const hasher = blake3.create()
const digest = new Uint8Array(32)

function hexOf(bytes: Uint8Array): string {
  untouched._cloneInto(hasher).update(bytes).digestInto(digest)
  return bytesToHex(digest)
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
