import type { FinishReason } from '../../stream/chunk-writer.ts'

/** Every reason that is not here is `stop`. */
const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['content_filtered', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
])

/** Some model families report `end_turn` although they have called a tool. */
export function finishReasonOf(
  stopReason: string | null | undefined,
  hasCalls: boolean,
): FinishReason {
  const reason = finishReasons.get(stopReason ?? '') ?? 'stop'
  return reason === 'stop' && hasCalls ? 'tool_calls' : reason
}
