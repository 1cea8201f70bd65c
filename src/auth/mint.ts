import { bytesToHex } from '@noble/hashes/utils.js'
import type { GroupId, KeyId } from '../core/ids.ts'
import { blake3Hex } from '../wire/digest.ts'

/** A new secret, to be shown once, with the digest that is kept in its place. */
export interface MintedKey {
  readonly plaintext: string
  readonly digest: string
}

const prefix = 'sk-gw-'
const keyPattern = /^sk-gw-[0-9a-f]{64}$/
const idPattern = /^[0-9a-f]{32}$/

export function mintKey(): MintedKey {
  const plaintext = prefix + randomHex(32)
  return { plaintext, digest: digestKey(plaintext) }
}

/** What is stored of a secret. */
export function digestKey(plaintext: string): string {
  return blake3Hex(plaintext)
}

/** Whether a text is written as the secret of a virtual key is. */
export function isKeyFormat(text: string): boolean {
  return keyPattern.test(text)
}

export function newKeyId(): KeyId {
  // Hex digits of the right number are what the brand stands for.
  return randomHex(16) as KeyId
}

export function newGroupId(): GroupId {
  return randomHex(16) as GroupId
}

/** The id that a client has written; undefined when no key can have it. */
export function parseKeyId(text: string): KeyId | undefined {
  return idPattern.test(text) ? (text as KeyId) : undefined
}

/** The id that a client has written; undefined when no group can have it. */
export function parseGroupId(text: string): GroupId | undefined {
  return idPattern.test(text) ? (text as GroupId) : undefined
}

function randomHex(bytes: number): string {
  return bytesToHex(crypto.getRandomValues(new Uint8Array(bytes)))
}
