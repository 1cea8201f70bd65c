import * as z from 'zod'

export const eventTypes = [
  'contentBlockStart',
  'contentBlockDelta',
  'contentBlockStop',
  'messageStop',
  'metadata',
] as const

const optionalText = z.string().nullish()

export const event = z.object({
  contentBlockIndex: z.number().optional(),
  start: z
    .object({
      toolUse: z.object({ toolUseId: optionalText, name: z.string() }).nullish(),
    })
    .nullish(),
  delta: z
    .object({
      text: optionalText,
      toolUse: z.object({ input: optionalText }).nullish(),
      reasoningContent: z
        .object({ text: optionalText, signature: optionalText, redactedContent: optionalText })
        .nullish(),
    })
    .nullish(),
  stopReason: optionalText,
  usage: z.unknown().optional(),
})

export type StreamEvent = z.infer<typeof event>
export type Delta = NonNullable<StreamEvent['delta']>
export type ReasoningDelta = NonNullable<Delta['reasoningContent']>
export type ToolUse = NonNullable<NonNullable<StreamEvent['start']>['toolUse']>
