import type { FinishReason } from '../../stream/chunk-writer.ts'

/**
 * The stop reasons with a fixed counterpart.
 * https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
 */
const finishReasons: ReadonlyMap<string | undefined, FinishReason> = new Map([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])

/** Maps a `stop_reason`. Any other reason is `tool_calls` if the message has calls, else `stop`. */
export function mapFinishReason(stopReason: string | undefined, hasCalls: boolean): FinishReason {
  return finishReasons.get(stopReason) ?? (hasCalls ? 'tool_calls' : 'stop')
}
