import * as z from 'zod'
import { eventLimits, isObject, tryParseEvent } from '../../wire/json/parse.ts'
import type { RepeatedJsonOptions } from '../../wire/json/repeated.ts'
import { isHiddenError } from '../base/hidden-error.ts'
import { container, contentBlock, lenientText, stopDetails } from './answer.ts'

const blockDelta = z.object({
  type: lenientText,
  text: lenientText,
  thinking: lenientText,
  signature: lenientText,
  partial_json: lenientText,
  citation: z.unknown().optional(),
  stop_reason: lenientText,
  stop_details: stopDetails,
  container,
})

/**
 * Any event of a stream. A member of an unexpected type reads as absent, because new events may use
 * the same member names. https://platform.claude.com/docs/en/build-with-claude/streaming
 */
const streamEvent = z.object({
  /** Repeats the name of the event. */
  type: lenientText,
  index: z.number().catch(0),
  message: z
    .object({
      id: lenientText,
      content: z.array(contentBlock).optional().catch(undefined),
      /** A container that an earlier request has opened is known from the start. */
      container,
      usage: z.unknown().optional(),
    })
    .optional()
    .catch(undefined),
  content_block: contentBlock.optional().catch(undefined),
  delta: blockDelta.optional().catch(undefined),
  usage: z.unknown().optional(),
})

/** Deltas of one block differ only in their text. */
export const repeatedDeltas: RepeatedJsonOptions<StreamEvent> = {
  read(json) {
    const value = tryParseEvent(json, eventLimits)
    const isError = isObject(value) && isHiddenError(value, value['type'])
    return isError ? undefined : streamEvent.safeParse(value).data
  },
  readText: ({ type, delta }) => (type === 'content_block_delta' ? delta?.[textField(delta)] : ''),
  repeat: (event, { text }) => ({
    ...event,
    delta: event.delta && { ...event.delta, [textField(event.delta)]: text },
  }),
}

function textField({ text, thinking }: Delta): 'text' | 'thinking' | 'partial_json' {
  if (text) return 'text'
  return thinking ? 'thinking' : 'partial_json'
}

export type StreamEvent = z.infer<typeof streamEvent>
export type Delta = z.infer<typeof blockDelta>
