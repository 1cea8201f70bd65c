import type { FinishReason } from '../../stream/chunk-writer.ts'

const finishReasons: ReadonlyMap<string | undefined, FinishReason> = new Map([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])

/** Every other reason is an end like any other, or a call if there is one. */
export function finishReasonOf(stopReason: string | undefined, hasCalls: boolean): FinishReason {
  return finishReasons.get(stopReason) ?? (hasCalls ? 'tool_calls' : 'stop')
}
