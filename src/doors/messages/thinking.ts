import { decodeBase64, encodeBase64 } from '../../wire/base64.ts'
import { isObject, tryParseJson } from '../../wire/json.ts'
import type { JsonObject } from '../choice.ts'

/*
 * Vendors that reason sign their reasoning, and expect the proof back in the next turn. Clients of this API
 * keep it in `signature`, which they return unread. Claude's own signatures pass as they are. The proofs of
 * other vendors, which a chat answer has in `extra_content`, are encoded there.
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
  if (type === 'redacted_thinking') {
    return typeof data === 'string' && data !== '' ? { type, data } : undefined
  }
  if (type !== 'thinking' || typeof signature !== 'string' || signature === '') return undefined
  if (signature.startsWith(prefix)) return undefined
  return { type, thinking: typeof thinking === 'string' ? thinking : '', signature }
}

/** The `extra_content` of a tool call, or of a message. */
export interface Proof {
  readonly call?: JsonObject | undefined
  readonly message?: JsonObject | undefined
}

/** Names this gateway and the version of the form, so that other signatures are recognized. */
const prefix = 'gateway-1.'
/** In characters; a longer text is not a proof. */
const maxLength = 1024 * 1024

/** Returns thinking without text that carries a proof. */
export function toProofBlock(proof: Proof): ThinkingBlock {
  const json = encoder.encode(JSON.stringify(proof))
  return { type: 'thinking', thinking: '', signature: prefix + encodeBase64(json) }
}

/** Returns the proof that a block of thinking carries, if it carries one. */
export function readProof({ type, signature }: JsonObject): Proof | undefined {
  if (type !== 'thinking' || typeof signature !== 'string') return undefined
  if (!signature.startsWith(prefix) || signature.length > maxLength) return undefined
  const bytes = decodeBase64(signature.slice(prefix.length))
  const value = bytes && tryParseJson(bytes)
  if (!isObject(value)) return undefined
  const { call, message } = value
  return {
    call: isObject(call) ? call : undefined,
    message: isObject(message) ? message : undefined,
  }
}

const encoder = new TextEncoder()
