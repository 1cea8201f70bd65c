import { bytesToHex } from '@noble/hashes/utils.js'
import type { GroupId, KeyId } from '../core/ids.ts'
import { blake3Hex } from '../wire/digest.ts'

/** A new secret, which is shown once, and the digest that is stored in its place. */
export interface MintedKey {
  readonly plaintext: string
  readonly digest: string
}

const prefix = 'sk-gw-'
const keyLength = prefix.length + 64
const idPattern = /^[0-9a-f]{32}$/

export function mintKey(): MintedKey {
  const plaintext = prefix + randomHex(32)
  return { plaintext, digest: digestKey(plaintext) }
}

/** Returns the BLAKE3 digest of a secret, the only form in which it is stored. */
export function digestKey(plaintext: string): string {
  return blake3Hex(plaintext)
}

/** Whether a text may be the secret of a virtual key, by its length and its beginning. */
export function isKeyFormat(text: string): boolean {
  return text.length === keyLength && text.startsWith(prefix)
}

export function newKeyId(): KeyId {
  // 32 hex digits are the format of the branded ids.
  return randomHex(16) as KeyId
}

export function newGroupId(): GroupId {
  return randomHex(16) as GroupId
}

/** Parses the id of a key; undefined when no key can have it. */
export function parseKeyId(text: string): KeyId | undefined {
  return idPattern.test(text) ? (text as KeyId) : undefined
}

/** Parses the id of a group; undefined when no group can have it. */
export function parseGroupId(text: string): GroupId | undefined {
  return idPattern.test(text) ? (text as GroupId) : undefined
}

function randomHex(bytes: number): string {
  return bytesToHex(crypto.getRandomValues(new Uint8Array(bytes)))
}
