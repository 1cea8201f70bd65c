/** The stop reasons of the Messages API that chat completions can express. */
export type StopReason = 'end_turn' | 'max_tokens' | 'tool_use' | 'refusal'

export interface Ending {
  /** The `finish_reason`; undefined for an answer without one. */
  readonly finishReason: string | undefined
  readonly hasCalls: boolean
  /** What a model says in place of an answer; empty when it does not refuse. */
  readonly refusal: string
}

/** The last members of an answer, and of the last `message_delta` of a stream. */
export interface StopFields {
  readonly stop_reason: StopReason
  readonly stop_sequence: null
  readonly stop_details: object | null
}

/** Maps the end of an answer. Some vendors finish with `stop` although the answer has calls. */
export function toStopFields({ finishReason, hasCalls, refusal }: Ending): StopFields {
  const isRefusal = finishReason === 'content_filter' || refusal !== ''
  const reason = isRefusal
    ? 'refusal'
    : finishReason === 'length'
      ? 'max_tokens'
      : hasCalls
        ? 'tool_use'
        : 'end_turn'
  return {
    stop_reason: reason,
    stop_sequence: null,
    stop_details: isRefusal
      ? { type: 'refusal', category: null, explanation: refusal === '' ? null : refusal }
      : null,
  }
}
