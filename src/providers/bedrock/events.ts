import * as z from 'zod'
import { eventLimits, tryParseEvent } from '../../wire/json/parse.ts'
import type { RepeatedJsonOptions } from '../../wire/json/repeated.ts'
import { optionalText, trace } from './answer.ts'
import { serviceTier } from './usage.ts'

/** The events that matter. `messageStart` has only the role. */
export const eventTypes = [
  'contentBlockStart',
  'contentBlockDelta',
  'contentBlockStop',
  'messageStop',
  'metadata',
] as const

/** The payload of any event of a stream; each type of event has some of the members. */
const streamEvent = z.object({
  contentBlockIndex: z.number().optional(),
  start: z
    .object({
      toolUse: z
        .looseObject({ toolUseId: optionalText, name: z.string(), type: optionalText })
        .nullish(),
      toolResult: z.looseObject({}).nullish(),
      image: z.unknown().optional(),
    })
    .nullish(),
  delta: z
    .object({
      text: optionalText,
      toolUse: z.object({ input: optionalText }).nullish(),
      reasoningContent: z
        .object({ text: optionalText, signature: optionalText, redactedContent: optionalText })
        .nullish(),
      toolResult: z.array(z.unknown()).nullish().catch(undefined),
      citation: z.looseObject({}).nullish().catch(undefined),
    })
    .nullish(),
  stopReason: optionalText,
  usage: z.unknown().optional(),
  serviceTier,
  trace,
})

export type StreamEvent = z.infer<typeof streamEvent>
export type Delta = NonNullable<StreamEvent['delta']>
export type ReasoningDelta = NonNullable<Delta['reasoningContent']>
export type BlockStart = Partial<NonNullable<StreamEvent['start']>>
export type ToolUse = NonNullable<BlockStart['toolUse']>

/** Deltas of one block differ only in their text. `p` pads them, to hide the length of the text. */
export const repeatedDeltas: RepeatedJsonOptions<StreamEvent> = {
  read: (json) => streamEvent.safeParse(tryParseEvent(json, eventLimits)).data,
  readText: ({ delta }) =>
    delta?.text || delta?.reasoningContent?.text || delta?.toolUse?.input || undefined,
  repeat: (event, { text }) => ({ ...event, delta: replaceText(event.delta ?? {}, text) }),
  varying: ['p'],
}

function replaceText(delta: Delta, text: string): Delta {
  if (delta.text) return { ...delta, text }
  const { reasoningContent, toolUse } = delta
  return reasoningContent?.text
    ? { ...delta, reasoningContent: { ...reasoningContent, text } }
    : { ...delta, toolUse: { ...toolUse, input: text } }
}
