import type { FinishReason } from '../../stream/chunk-writer.ts'

/** Values of `finish_reason`: https://docs.cohere.com/reference/chat */
const finishReasons: ReadonlyMap<unknown, FinishReason> = new Map([
  ['MAX_TOKENS', 'length'],
  ['TOOL_CALL', 'tool_calls'],
  // Older deployments still send these two of API v1.
  ['ERROR_LIMIT', 'length'],
  ['ERROR_TOXIC', 'content_filter'],
])

/** Maps a reason to OpenAI's. Other reasons map to `tool_calls` with calls, otherwise to `stop`. */
export function mapFinishReason(reason: unknown, hasCalls: boolean): FinishReason {
  return finishReasons.get(reason) ?? (hasCalls ? 'tool_calls' : 'stop')
}

/** The HTTP status for each reason that reports a failure. */
const failures: ReadonlyMap<unknown, number> = new Map([
  ['ERROR', 500],
  ['TIMEOUT', 504],
])

/** Returns the status of a generation that failed inside a 200; undefined for a success. */
export function mapFailureStatus(reason: unknown): number | undefined {
  return failures.get(reason)
}
