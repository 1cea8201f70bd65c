import { z } from 'zod'
import type { StreamIdentity } from '../../../core/frame.ts'
import type { ChatReading } from '../../../core/provider.ts'
import { isCount, type Usage } from '../../../core/usage.ts'
import type { FinishReason } from '../../../stream/chunk-writer.ts'
import { jsonIn } from '../../../wire/json.ts'
import { type CompletionMessage, completionAnswer, type ToolCall } from '../openai/completion.ts'

export interface AnswerContext {
  readonly identity: StreamIdentity
  /** The client asked for reasoning: it also gets the signed blocks, to send back with tool results. */
  readonly signed: boolean
}

/** Reads an answer of Converse as a chat completion. */
export function converseAnswer(body: Uint8Array, { identity, signed }: AnswerContext): ChatReading {
  const parsed = answer.safeParse(jsonIn(body))
  if (!parsed.success) {
    return { ok: false, failure: { kind: 'malformed', detail: 'the answer is none of Converse' } }
  }
  const { output, stopReason, usage } = parsed.data
  const message = messageOf(output.message.content, signed)
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
  toolUse: z
    .looseObject({ toolUseId: z.string(), name: z.string(), input: z.unknown().optional() })
    .nullish(),
  reasoningContent: z
    .looseObject({
      reasoningText: z.looseObject({ text: optionalText, signature: optionalText }).nullish(),
      redactedContent: optionalText,
    })
    .nullish(),
})

type Block = z.infer<typeof block>

const answer = z.looseObject({
  output: z.looseObject({ message: z.looseObject({ content: z.array(block) }) }),
  stopReason: optionalText,
  usage: z.unknown().optional(),
})

function messageOf(blocks: readonly Block[], signed: boolean): CompletionMessage {
  const text = blocks.map(textOf).join('')
  const reasoning = blocks.map((b) => b.reasoningContent?.reasoningText?.text ?? '').join('')
  const thinking = signed ? blocks.flatMap(thinkingOf) : []
  const calls = blocks.flatMap(callOf)
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

/** What a client must hand back unchanged for the model to go on with its reasoning. */
function thinkingOf({ reasoningContent }: Block): object[] {
  const { reasoningText, redactedContent } = reasoningContent ?? {}
  if (redactedContent) return [{ type: 'redacted_thinking', data: redactedContent }]
  if (!reasoningText?.signature) return []
  const { text, signature } = reasoningText
  return [{ type: 'thinking', thinking: text ?? '', signature }]
}

function callOf({ toolUse }: Block): ToolCall[] {
  if (!toolUse) return []
  const { toolUseId, name, input } = toolUse
  const called = { name, arguments: JSON.stringify(input ?? {}) }
  return [{ id: toolUseId, type: 'function', function: called }]
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
export function converseUsage(value: unknown): Usage | undefined {
  const parsed = usageCounts.safeParse(value)
  if (!parsed.success) return undefined
  const { inputTokens, outputTokens, cacheReadInputTokens, cacheWriteInputTokens } = parsed.data
  const cachedTokens = cacheReadInputTokens ?? 0
  const cacheWriteTokens = cacheWriteInputTokens ?? 0
  const promptTokens = inputTokens + cachedTokens + cacheWriteTokens
  const totalTokens = promptTokens + outputTokens
  if (!isCount(totalTokens)) return undefined
  return {
    promptTokens,
    completionTokens: outputTokens,
    totalTokens,
    ...(cachedTokens + cacheWriteTokens > 0 && { cachedTokens, cacheWriteTokens }),
    estimated: false,
  }
}

const count = z.custom<number>(isCount)

const usageCounts = z.looseObject({
  inputTokens: count,
  outputTokens: count,
  cacheReadInputTokens: count.nullish(),
  cacheWriteInputTokens: count.nullish(),
})
