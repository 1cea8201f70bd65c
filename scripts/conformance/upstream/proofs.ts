import { createHash, randomBytes } from 'node:crypto'
import type { Part } from './conversation.ts'

/**
 * Proofs of reasoning, as Claude and Gemini issue them: opaque for clients, verified when they come
 * back, without any state between the requests.
 */

/** Signs thoughts, and whether encrypted ones follow. */
export function signThoughts(text: string, hasVeiled: boolean): string {
  return sign(`thoughts ${text} ${hasVeiled}`)
}

export interface SignedThoughts {
  readonly text: string
  readonly hasVeiled: boolean
  readonly signature: string
}

/** Whether the thoughts came back as they were. */
export function verifyThoughts({ text, hasVeiled, signature }: SignedThoughts): boolean {
  return verify(`thoughts ${text} ${hasVeiled}`, signature)
}

/** Makes encrypted thoughts, in base64. */
export function veil(): string {
  return sign('veiled')
}

export function verifyVeil(data: string): boolean {
  return verify('veiled', data)
}

/** Signs a call without its text, as Gemini does. */
export function signCall(): string {
  return sign('call')
}

export function verifyCall(signature: string): boolean {
  return verify('call', signature)
}

const thoughtMark = '_thought_'

/** Marks the ids of calls that follow reasoning, so that a lost proof shows when they come back. */
export function markThoughtCalls(parts: readonly Part[]): readonly Part[] {
  if (!parts.some(({ kind }) => kind === 'reasoning')) return parts
  return parts.map((part) =>
    part.kind === 'call' ? { ...part, id: part.id.replace('_', thoughtMark) } : part,
  )
}

/** Whether reasoning led to the call. */
export function isThoughtCall(id: string): boolean {
  return id.includes(thoughtMark)
}

/** A random part makes every proof different. */
function sign(text: string): string {
  const nonce = randomBytes(9).toString('base64')
  return `${nonce}${digest(`${nonce}${text}`)}`
}

function verify(text: string, proof: string): boolean {
  const nonce = proof.slice(0, 12)
  return proof === `${nonce}${digest(`${nonce}${text}`)}`
}

function digest(text: string): string {
  return createHash('sha256').update(`upstream ${text}`).digest('base64')
}
