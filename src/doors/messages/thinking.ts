import type { PastReasoning } from '../../core/past-reasoning.ts'
import type { JsonObject } from '../../wire/json/parse.ts'
import type { CallContent } from '../choice.ts'
import {
  type CallProof,
  encodeProof,
  type GivenProof,
  isProof,
  type PastProof,
  readExtraContent,
} from '../proofs.ts'
import { restoreId } from './ids.ts'

/*
 * Vendors that reason sign their reasoning, and expect the proof back in the next turn. Clients of this API
 * keep it in `signature`, which they return unread. Claude's own signatures pass as they are; what other
 * vendors expect back is encoded there.
 */

/** Thinking with the vendor's proof, without which the vendor does not take it back. */
export type ProvenBlock = ThinkingBlock | RedactedBlock

export type ThinkingBlock = {
  readonly type: 'thinking'
  readonly thinking: string
  readonly signature: string
}

type RedactedBlock = { readonly type: 'redacted_thinking'; readonly data: string }

/** Reads a block of Claude's thinking; undefined for any other block, and for thinking without its proof. */
export function readProven(block: JsonObject): ProvenBlock | undefined {
  const { type, thinking, signature, data } = block
  if (isOwnBlock(block)) return undefined
  if (type === 'redacted_thinking') {
    return typeof data === 'string' && data !== '' ? { type, data } : undefined
  }
  if (type !== 'thinking' || typeof signature !== 'string' || signature === '') return undefined
  return { type, thinking: typeof thinking === 'string' ? thinking : '', signature }
}

/** True for thinking that the gateway has signed, in either form. Claude itself refuses it. */
export function isOwnBlock({ type, signature, data }: JsonObject): boolean {
  return (
    (type === 'thinking' && isProof(signature)) || (type === 'redacted_thinking' && isProof(data))
  )
}

/** Returns thinking without text that carries a proof; none if the proof is too long. */
export function toProofBlocks(proof: GivenProof): ThinkingBlock[] {
  const signature = encodeProof(proof)
  return signature === undefined ? [] : [{ type: 'thinking', thinking: '', signature }]
}

/** Returns the text of the proof that a block carries, if it carries one. */
export function readProofText(block: JsonObject): string | undefined {
  if (!isOwnBlock(block)) return undefined
  const { type, signature, data } = block
  return String(type === 'thinking' ? signature : data)
}

/** Returns the vendor's proof of a call, with the id that the call has when the client sends it back. */
export function toCallProofs({ id, extra }: Pick<CallContent, 'id' | 'extra'>): CallProof[] {
  const proof = readExtraContent(extra)
  return proof ? [{ id: restoreId(id), extra: proof }] : []
}

/** Returns what an upstream of the OpenAI format expects back. The block keeps the text. */
export function toPastProofs(
  past: PastReasoning | undefined,
  shown: string,
): { readonly past?: PastProof[] } {
  if (!past) return {}
  const { lineage, form, text, entries, gap } = past
  const kept = text === shown ? undefined : text
  return { past: [{ lineage, form, text: kept, entries: entries && [...entries], gap }] }
}

/** True for thinking without a signature. */
export function isUnsignedBlock({ type, signature }: JsonObject): boolean {
  return type === 'thinking' && (signature ?? '') === ''
}

/** Returns the text of thinking without a signature, which some upstreams take back as it is. */
export function readUnsigned(block: JsonObject): string | undefined {
  const { thinking } = block
  const isText = typeof thinking === 'string' && thinking !== ''
  return isText && isUnsignedBlock(block) ? thinking : undefined
}
