import type { FinishReason } from '../../stream/chunk-writer.ts'
import type { GeminiCandidate } from './response.ts'

const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  // A cap on one request was reached; the gateway does not go on by itself.
  ['CONTINUATION', 'length'],
  ['SAFETY', 'content_filter'],
  ['RECITATION', 'content_filter'],
  ['LANGUAGE', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
  ['IMAGE_SAFETY', 'content_filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
  ['IMAGE_RECITATION', 'content_filter'],
  ['NO_IMAGE', 'content_filter'],
  ['MODEL_ARMOR', 'content_filter'],
])

/** `STOP`, whatever is unknown, and failed calls alike are the plain end: of a turn, or of calls. */
export function mapFinishReason(reason: string | null | undefined, called: boolean): FinishReason {
  const known = finishReasons.get(reason ?? 'STOP') ?? 'stop'
  return known === 'stop' && called ? 'tool_calls' : known
}

/** True for the value that stands for no reason at all. */
export function isUnspecified(reason: string): boolean {
  return reason === 'FINISH_REASON_UNSPECIFIED'
}

/**
 * The vendor's own reason, for an answer that was broken off in a way that the OpenAI API has no
 * word for, such as `MALFORMED_FUNCTION_CALL`. Members of a choice, named as OpenRouter names them.
 */
export function nativeFinishFields({
  finishReason: reason,
  finishMessage: message,
}: Pick<GeminiCandidate, 'finishReason' | 'finishMessage'>): Readonly<Record<string, string>> {
  if (!reason || finishReasons.has(reason) || isUnspecified(reason)) return {}
  return {
    native_finish_reason: reason,
    ...(message && { native_finish_message: message }),
  }
}
