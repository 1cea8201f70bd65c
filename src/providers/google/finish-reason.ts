import type { FinishReason } from '../../stream/chunk-writer.ts'
import type { GeminiCandidate } from './response.ts'

/** Values of `FinishReason`: https://ai.google.dev/api/generate-content */
const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  // The service reached its output limit for one request; the gateway does not continue the answer.
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

/**
 * Maps a reason to OpenAI's. `STOP`, unknown reasons and malformed calls map to `stop`, or to
 * `tool_calls` when the candidate has calls.
 */
export function mapFinishReason(
  reason: string | null | undefined,
  hasCalls: boolean,
): FinishReason {
  const known = finishReasons.get(reason ?? 'STOP') ?? 'stop'
  return known === 'stop' && hasCalls ? 'tool_calls' : known
}

/** Whether this is the enum's default value, which states no reason. */
export function isUnspecified(reason: string): boolean {
  return reason === 'FINISH_REASON_UNSPECIFIED'
}

/**
 * The vendor's own reason, as further fields of a choice, where OpenAI has no counterpart, such as
 * for `MALFORMED_FUNCTION_CALL`. The names are OpenRouter's.
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
