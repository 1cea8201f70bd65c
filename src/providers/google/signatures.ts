import { isObject } from '../../wire/json.ts'
import type { JsonObject } from '../canonical/messages.ts'
import type { GeminiPart } from './response.ts'

/*
 * Thought signatures travel in `extra_content`, where Google's own OpenAI-compatible API puts them:
 * on a tool call, on an image, and for texts on the message.
 * https://ai.google.dev/gemini-api/docs/thought-signatures
 */

/** Where a signature stands in a message, a tool call or an image. */
export interface SignatureFields {
  readonly extra_content?: { readonly google: { readonly thought_signature: string } }
}

/** The member that carries a signature; none without one. */
export function signatureFields(signature: string | null | undefined): SignatureFields {
  return signature ? { extra_content: { google: { thought_signature: signature } } } : {}
}

/** The signature of a text, or the one that follows the text in a part of its own. */
export function textSignature({
  thoughtSignature,
  functionCall,
  inlineData,
}: GeminiPart): string | undefined {
  return functionCall || inlineData ? undefined : thoughtSignature || undefined
}

/** The signature that a client gives back; what is no base64 did not come from here. */
export function readSignature({ extra_content: extra }: JsonObject): string | undefined {
  const google = isObject(extra) ? extra['google'] : undefined
  const signature = isObject(google) ? google['thought_signature'] : undefined
  return typeof signature === 'string' && base64.test(signature) ? signature : undefined
}

const base64 = /^[\w+/-]+={0,2}$/
