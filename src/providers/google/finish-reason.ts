import type { UpstreamFailure } from '../../core/failure.ts'
import type { FinishReason } from '../../stream/chunk-writer.ts'
import type { GeminiCandidate } from './response.ts'

/**
 * Values of `FinishReason`, of both clouds. `OTHER`, `IMAGE_OTHER`, `ESCALATION`, and `NO_IMAGE`, for a model that was
 * to make an image and did not, have no counterpart: https://ai.google.dev/api/generate-content
 */
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
  ['MODEL_ARMOR', 'content_filter'],
])

/**
 * Reasons that say that the model has failed, with no call that the client could use. The SDKs lack some:
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/GenerateContentResponse#FinishReason
 * https://github.com/googleapis/python-genai/issues/2937
 */
const failures: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
  'MISSING_THOUGHT_SIGNATURE',
])

/** Returns the failure of the first candidate that ended by one. Undefined when none has. */
export function findFailedFinish(
  candidates: readonly Pick<GeminiCandidate, 'finishReason' | 'finishMessage'>[],
): UpstreamFailure | undefined {
  const failed = candidates.find(({ finishReason }) => failures.has(finishReason ?? ''))
  if (!failed) return undefined
  const { finishReason, finishMessage } = failed
  const message = `the answer ended with finishReason "${finishReason}"`
  return {
    kind: 'error-frame',
    message: finishMessage ? `${message}: ${finishMessage}` : message,
  }
}

/** Maps a reason to OpenAI's. `STOP` and unknown reasons map to `stop`, or to `tool_calls` beside calls. */
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
 * for `OTHER`. The names are OpenRouter's.
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
