import type { UpstreamFailure } from '../../core/failure.ts'
import type { FinishReason } from '../../stream/chunk-writer.ts'

/**
 * The stop reasons with a fixed counterpart.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */
const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['content_filtered', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
])

/** The stop reasons that say that the model has failed, with no call that the client could use. */
const failures: ReadonlySet<string> = new Set(['malformed_model_output', 'malformed_tool_use'])

/** Returns the failure of an answer that ended by one of them. Undefined for any other. */
export function findFailedStop(stopReason: string | null | undefined): UpstreamFailure | undefined {
  if (!failures.has(stopReason ?? '')) return undefined
  return { kind: 'error-frame', message: `the answer ended with stopReason "${stopReason}"` }
}

/**
 * Maps a `stopReason`. Any other reason is `tool_calls` if the message has calls, else `stop`: some
 * model families report `end_turn` after a call.
 */
export function mapFinishReason(
  stopReason: string | null | undefined,
  hasCalls: boolean,
): FinishReason {
  return finishReasons.get(stopReason ?? '') ?? (hasCalls ? 'tool_calls' : 'stop')
}
