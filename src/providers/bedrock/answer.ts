import * as z from 'zod'
import type { StreamIdentity } from '../../core/frame.ts'
import { newCallId } from '../../core/ids.ts'
import type { ChatResult } from '../../core/provider.ts'
import { isCount, type ReportedUsage } from '../../core/usage.ts'
import type { FinishReason } from '../../stream/chunk-writer.ts'
import { jsonIn } from '../../wire/json.ts'
import { textsAt } from '../../wire/json-text.ts'
import { argumentsIn } from '../canonical/arguments.ts'
import { type CompletionMessage, completionAnswer, type ToolCall } from '../canonical/completion.ts'
import type { Raw } from '../canonical/messages.ts'
import { thinkingOf } from '../claude/thinking.ts'

const decoder = new TextDecoder()

/** Reads an answer of Converse as a chat completion. */
export function converseAnswer(body: Uint8Array, identity: StreamIdentity): ChatResult {
  const json = decoder.decode(body)
  const parsed = answer.safeParse(jsonIn(json))
  if (!parsed.success) {
    return { ok: false, failure: { kind: 'malformed', detail: 'the answer is none of Converse' } }
  }
  const { output, stopReason, usage } = parsed.data
  const message = messageOf(output.message.content, json)
  const finishReason = finishReasonOf(stopReason, message.tool_calls !== undefined)
  return {
    ok: true,
    answer: completionAnswer({
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
function thinkingIn({ reasoningText, redactedContent }: Reasoning): Raw {
  if (redactedContent) return { data: redactedContent }
  return { thinking: reasoningText?.text ?? '', signature: reasoningText?.signature ?? '' }
}

function callsOf(blocks: readonly Block[], json: string): ToolCall[] {
  if (!blocks.some(({ toolUse }) => toolUse)) return []
  const inputs = textsAt(json, 'output.message.content.*.toolUse.input')
  return blocks.flatMap(({ toolUse }, place) => {
    if (!toolUse) return []
    const text = argumentsIn(inputs.get(`output.message.content.${place}.toolUse.input`))
    const called = { name: toolUse.name, arguments: text }
    return [{ id: toolUse.toolUseId || newCallId(), type: 'function', function: called }]
  })
}

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

/** Converse leaves what the cache gave and took out of `inputTokens`. */
export function converseUsage(value: unknown): ReportedUsage | undefined {
  const parsed = usageCounts.safeParse(value)
  if (!parsed.success) return undefined
  const { inputTokens, outputTokens, cacheReadInputTokens, cacheWriteInputTokens } = parsed.data
  const cached = (cacheReadInputTokens ?? 0) + (cacheWriteInputTokens ?? 0)
  const cacheWrite1hTokens = (parsed.data.cacheDetails ?? [])
    .filter(({ ttl }) => ttl === '1h')
    .reduce((sum, { inputTokens: written }) => sum + (written ?? 0), 0)
  return {
    promptTokens: typeof inputTokens === 'number' ? inputTokens + cached : undefined,
    completionTokens: outputTokens ?? undefined,
    ...(cached > 0 && {
      cachedTokens: cacheReadInputTokens ?? undefined,
      cacheWriteTokens: cacheWriteInputTokens ?? undefined,
    }),
    ...(cacheWrite1hTokens > 0 && { cacheWrite1hTokens }),
  }
}

const count = z.custom<number>(isCount)

const usageCounts = z.object({
  inputTokens: count.nullish(),
  outputTokens: count.nullish(),
  cacheReadInputTokens: count.nullish(),
  cacheWriteInputTokens: count.nullish(),
  cacheDetails: z.array(z.object({ ttl: optionalText, inputTokens: count.nullish() })).nullish(),
})
