import * as z from 'zod'
import type { StreamIdentity } from '../../core/frame.ts'
import { newCallId } from '../../core/ids.ts'
import type { ChatResult } from '../../core/provider.ts'
import { tryParseJson } from '../../wire/json.ts'
import { extractTexts } from '../../wire/json-text.ts'
import {
  type CompletionMessage,
  createCompletionAnswer,
  normalizeArguments,
  type ToolCall,
} from '../canonical/completion.ts'
import type { JsonObject } from '../canonical/messages.ts'
import { thinkingOf } from '../claude/thinking-blocks.ts'
import { finishReasonOf } from './finish-reason.ts'
import { converseUsage } from './usage.ts'

const decoder = new TextDecoder()

/** Reads an answer of Converse as a chat completion. */
export function converseAnswer(body: Uint8Array, identity: StreamIdentity): ChatResult {
  const json = decoder.decode(body)
  const parsed = answer.safeParse(tryParseJson(json))
  if (!parsed.success) {
    return { ok: false, failure: { kind: 'malformed', detail: 'the answer is none of Converse' } }
  }
  const { output, stopReason, usage } = parsed.data
  const message = messageOf(output.message.content, json)
  const finishReason = finishReasonOf(stopReason, message.tool_calls !== undefined)
  return {
    ok: true,
    answer: createCompletionAnswer({
      ...identity,
      choices: [{ message, finishReason }],
      usage: converseUsage(usage),
    }),
  }
}

const optionalText = z.string().nullish()

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

type Block = z.infer<typeof block>
type Reasoning = NonNullable<Block['reasoningContent']>

const answer = z.looseObject({
  output: z.looseObject({ message: z.looseObject({ content: z.array(block) }) }),
  stopReason: optionalText,
  usage: z.unknown().optional(),
})

function messageOf(blocks: readonly Block[], json: string): CompletionMessage {
  const text = blocks.map(textOf).join('')
  const reasoning = blocks.map((b) => b.reasoningContent?.reasoningText?.text ?? '').join('')
  const thinking = thinkingOf(blocks, ({ reasoningContent }) =>
    reasoningContent ? thinkingIn(reasoningContent) : undefined,
  )
  const calls = callsOf(blocks, json)
  return {
    content: text === '' && calls.length > 0 ? null : text,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(thinking.length > 0 && { thinking_blocks: thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

function textOf({ text, citationsContent }: Block): string {
  const cited = citationsContent?.content?.map((part) => part.text ?? '') ?? []
  return [text ?? '', ...cited].join('')
}

/** In the form of the Messages API, which clients know. */
function thinkingIn({ reasoningText, redactedContent }: Reasoning): JsonObject {
  if (redactedContent) return { data: redactedContent }
  return { thinking: reasoningText?.text ?? '', signature: reasoningText?.signature ?? '' }
}

function callsOf(blocks: readonly Block[], json: string): ToolCall[] {
  if (!blocks.some(({ toolUse }) => toolUse)) return []
  const inputs = extractTexts(json, 'output.message.content.*.toolUse.input')
  return blocks.flatMap(({ toolUse }, place) => {
    if (!toolUse) return []
    const text = normalizeArguments(inputs.get(`output.message.content.${place}.toolUse.input`))
    const called = { name: toolUse.name, arguments: text }
    return [{ id: toolUse.toolUseId || newCallId(), type: 'function', function: called }]
  })
}
