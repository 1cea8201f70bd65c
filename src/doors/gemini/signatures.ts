import { decodeBase64, encodeBase64 } from '../../wire/base64.ts'
import { findStringEnd } from '../../wire/json/text.ts'
import {
  encodeProof,
  type GivenProof,
  maxProofLength,
  notProof,
  type OpenedProof,
  openProofJson,
  proofPrefix,
} from '../proofs.ts'
import type { PlacedProof } from '../request-proofs.ts'
import { toStandardBase64 } from './base64.ts'
import { type GeminiRequest, listContents, listParts } from './schema.ts'

/*
 * What other vendors expect back of their reasoning stands in the `thoughtSignature` of a part, which clients
 * return. It must be base64: Python decodes it, and sends it back in the alphabet for URLs.
 */

/** How the base64 of a proof begins: its first bytes name the gateway. */
export const ownSignatureStart = encodeBase64(new TextEncoder().encode(proofPrefix)).slice(0, 12)

/** The value with which Gemini accepts a call that another model has made: https://ai.google.dev/gemini-api/docs/thought-signatures */
export const skippedSignature = 'skip_thought_signature_validator'

/** Returns a proof as a signature; undefined if it is too long. */
export function encodeSignature(proof: GivenProof): string | undefined {
  const encoded = encodeProof(proof)
  if (encoded === undefined) return undefined
  const json = decodeBase64(encoded.slice(proofPrefix.length)) ?? new Uint8Array(0)
  const bytes = new Uint8Array(prefixBytes.length + json.length)
  bytes.set(prefixBytes)
  bytes.set(json, prefixBytes.length)
  return encodeBase64(bytes)
}

const prefixBytes = new TextEncoder().encode(proofPrefix)

/** True for a signature of the gateway, which no vendor accepts. */
export function isOwnSignature(signature: unknown): signature is string {
  return typeof signature === 'string' && signature.startsWith(ownSignatureStart)
}

/**
 * Replaces the signatures of the gateway in the JSON text of a request by the one that Gemini accepts. Some JSON
 * libraries escape characters of base64.
 */
export function skipOwnSignatures(json: string): string {
  let replaced = ''
  let from = 0
  for (const { 0: found, index } of json.matchAll(ownMembers)) {
    if (index < from) continue
    const start = index + found.lastIndexOf('"')
    replaced += `${json.slice(from, start)}"${skippedSignature}"`
    from = findStringEnd(json, start)
  }
  return replaced + json.slice(from)
}

/** The beginning of a member that holds a signature of the gateway. */
const ownMembers = new RegExp(
  `"thought(?:S|_s)ignature"[ \\t\\r\\n]*:[ \\t\\r\\n]*"${ownSignatureStart}`,
  'g',
)

/** A longer signature is not one that the gateway has written, in characters. The prefix is in its base64. */
const maxLength = maxProofLength + 8

/** Decodes the proof in a signature of the gateway, in either alphabet. */
export function openSignature(signature: string): OpenedProof {
  if (signature.length > maxLength) return notProof
  const standard = toStandardBase64(signature)
  const bytes = decodeBase64(standard.padEnd(Math.ceil(standard.length / 4) * 4, '='))
  return openProofJson(bytes?.subarray(prefixBytes.length))
}

/** Lists the proofs of the gateway in a request, with the paths of their fields. */
export function listProofs(request: GeminiRequest): readonly PlacedProof[] {
  return listContents(request).flatMap((content, index) =>
    listParts(content).flatMap(({ thoughtSignature: signature }, at) => {
      const path = `contents.${index}.parts.${at}.thoughtSignature`
      return isOwnSignature(signature) ? [{ text: signature, path }] : []
    }),
  )
}
