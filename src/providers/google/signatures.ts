import { isObject, type JsonObject } from '../../wire/json/parse.ts'
import type { GeminiPart } from './response.ts'

/*
 * Clients receive and return thought signatures in `extra_content`, as in Google's own
 * OpenAI-compatible API: on a tool call, on an image, and on the message for its text.
 * https://ai.google.dev/gemini-api/docs/thought-signatures
 */

/** The field of a message, a tool call or an image that carries a signature. */
export interface SignatureFields {
  readonly extra_content?: { readonly google: { readonly thought_signature: string } }
}

/** Returns the field for a signature; no field when the part is not signed. */
export function signatureFields(signature: string | null | undefined): SignatureFields {
  return signature ? { extra_content: { google: { thought_signature: signature } } } : {}
}

/** The signature of a text part, or of the empty part that follows a text. */
export function textSignature({
  thoughtSignature,
  functionCall,
  inlineData,
}: GeminiPart): string | undefined {
  return functionCall || inlineData ? undefined : thoughtSignature || undefined
}

/** Reads a signature that a client returned. A text that is not base64 is not a signature. */
export function readSignature({ extra_content: extra }: JsonObject): string | undefined {
  const google = isObject(extra) ? extra['google'] : undefined
  const signature = isObject(google) ? google['thought_signature'] : undefined
  return typeof signature === 'string' && base64.test(signature) ? signature : undefined
}

const base64 = /^[\w+/-]+={0,2}$/
