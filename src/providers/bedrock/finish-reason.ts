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
