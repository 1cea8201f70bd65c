import * as z from 'zod'
import type { ChatResult } from '../../core/endpoints.ts'
import type { StreamIdentity } from '../../core/frame.ts'
import { newCallId } from '../../core/ids.ts'
import { tryParseJson } from '../../wire/json.ts'
import { extractTexts } from '../../wire/json-text.ts'
import {
  type CompletionMessage,
  createCompletionAnswer,
  normalizeArguments,
  type ToolCall,
} from '../canonical/completion.ts'
import type { JsonObject } from '../canonical/messages.ts'
import { collectThinking } from '../claude/thinking-blocks.ts'
import { mapFinishReason } from './finish-reason.ts'
import { parseUsage } from './usage.ts'

const decoder = new TextDecoder()

/** Reads the answer of Converse. */
export function parseConverseAnswer(body: Uint8Array, identity: StreamIdentity): ChatResult {
  const json = decoder.decode(body)
  const parsed = answer.safeParse(tryParseJson(json))
  if (!parsed.success) {
    const detail = 'the answer is not a Converse response'
    return { ok: false, failure: { kind: 'malformed', detail } }
  }
  const { output, stopReason, usage } = parsed.data
  const message = toCompletionMessage(output.message.content, json)
  const finishReason = mapFinishReason(stopReason, message.tool_calls !== undefined)
  return {
    ok: true,
    answer: createCompletionAnswer({
      ...identity,
      choices: [{ message, finishReason }],
      usage: parseUsage(usage),
    }),
  }
}

export const optionalText = z.string().nullish()

const block = z.looseObject({
  text: optionalText,
  citationsContent: z
    .looseObject({ content: z.array(z.looseObject({ text: optionalText })).nullish() })
    .nullish(),
  toolUse: z.looseObject({ toolUseId: optionalText, name: z.string() }).nullish(),
  reasoningContent: z
    .looseObject({
      reasoningText: z.looseObject({ text: optionalText, signature: optionalText }).nullish(),
      redactedContent: optionalText,
    })
    .nullish(),
})

type ContentBlock = z.infer<typeof block>
type ReasoningContent = NonNullable<ContentBlock['reasoningContent']>

const answer = z.looseObject({
  output: z.looseObject({ message: z.looseObject({ content: z.array(block) }) }),
  stopReason: optionalText,
  usage: z.unknown().optional(),
})

function toCompletionMessage(blocks: readonly ContentBlock[], json: string): CompletionMessage {
  const text = blocks.map(extractText).join('')
  const reasoning = blocks.map((b) => b.reasoningContent?.reasoningText?.text ?? '').join('')
  const thinking = collectThinking(blocks, ({ reasoningContent }) =>
    reasoningContent ? toThinking(reasoningContent) : undefined,
  )
  const calls = toToolCalls(blocks, json)
  return {
    content: text === '' && calls.length > 0 ? null : text,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(thinking.length > 0 && { thinking_blocks: thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

/** Includes the cited texts. The citations themselves have no counterpart. */
function extractText({ text, citationsContent }: ContentBlock): string {
  const cited = citationsContent?.content?.map((part) => part.text ?? '') ?? []
  return [text ?? '', ...cited].join('')
}

/** Converts reasoning into the members of a `thinking_blocks` entry, as the Messages API has them. */
function toThinking({ reasoningText, redactedContent }: ReasoningContent): JsonObject {
  if (redactedContent) return { data: redactedContent }
  return { thinking: reasoningText?.text ?? '', signature: reasoningText?.signature ?? '' }
}

/** Takes the arguments from the JSON text itself: parsing would round large integers. */
function toToolCalls(blocks: readonly ContentBlock[], json: string): ToolCall[] {
  if (!blocks.some(({ toolUse }) => toolUse)) return []
  const inputs = extractTexts(json, 'output.message.content.*.toolUse.input')
  return blocks.flatMap(({ toolUse }, index) => {
    if (!toolUse) return []
    const text = normalizeArguments(inputs.get(`output.message.content.${index}.toolUse.input`))
    const called = { name: toolUse.name, arguments: text }
    return [{ id: toolUse.toolUseId || newCallId(), type: 'function', function: called }]
  })
}
