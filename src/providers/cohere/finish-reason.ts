import type { FinishReason } from '../../stream/chunk-writer.ts'

const finishReasons: ReadonlyMap<unknown, FinishReason> = new Map([
  ['MAX_TOKENS', 'length'],
  ['TOOL_CALL', 'tool_calls'],
  // Two of API v1, which older deployments still send.
  ['ERROR_LIMIT', 'length'],
  ['ERROR_TOXIC', 'content_filter'],
])

/** How a message ended. Every end that is not special is the end of the calls, or of the text. */
export function mapFinishReason(reason: unknown, hasCalls: boolean): FinishReason {
  return finishReasons.get(reason) ?? (hasCalls ? 'tool_calls' : 'stop')
}

const failures: ReadonlyMap<unknown, number> = new Map([
  ['ERROR', 500],
  ['TIMEOUT', 504],
])

/** The status that an end stands for which is none: the generation failed, inside a 200. */
export function mapFailureStatus(reason: unknown): number | undefined {
  return failures.get(reason)
}
