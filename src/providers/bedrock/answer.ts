import * as z from 'zod'
import type { AnswerBody, ChatResult } from '../../core/endpoints.ts'
import type { StreamIdentity } from '../../core/frame.ts'
import { newCallId } from '../../core/ids.ts'
import type { Steps } from '../../core/steps.ts'
import type { JsonObject } from '../../wire/json/parse.ts'
import { extractItems } from '../../wire/json/text.ts'
import type { ToolNames } from '../../wire/tool-names.ts'
import { isStatedError, toAnswerFailure, toShapeFailure } from '../base/hidden-error.ts'
import { type Annotation, countCharacters, limitAnnotations } from '../canonical/annotations.ts'
import {
  type CompletionMessage,
  createCompletionAnswer,
  normalizeArguments,
  type ToolCall,
} from '../canonical/completion.ts'
import type { ProviderContent } from '../canonical/provider-content.ts'
import { hasContent } from '../canonical/text.ts'
import { collectThinking } from '../claude/thinking-blocks.ts'
import { toAnnotations } from './citations.ts'
import { carryContent, isServerCall, readBlockText } from './content.ts'
import { findFailedStop, mapFinishReason } from './finish-reason.ts'
import { parseUsage, serviceTier } from './usage.ts'

export interface AnswerContext {
  readonly identity: StreamIdentity
  /** The names of the tools of the request. */
  readonly names: ToolNames
}

/** Reads the answer of Converse. */
export function* parseConverseAnswer(
  body: AnswerBody,
  { identity, names }: AnswerContext,
): Steps<ChatResult> {
  const { text: json, value } = body
  const parsed = answer.safeParse(value)
  if (!parsed.success) {
    const failure = toShapeFailure(value, 'the answer is not a Converse response')
    return { ok: false, failure }
  }
  const { output, stopReason, trace: found, serviceTier: tier, error } = parsed.data
  const usage = parseUsage(parsed.data.usage, tier)
  if (isStatedError(error)) return { ok: false, failure: toAnswerFailure(value), usage }
  const failed = findFailedStop(stopReason)
  if (failed) return { ok: false, failure: failed, usage }
  yield
  const message = yield* toCompletionMessage(output.message.content, { json, names })
  yield
  // Models do end without a word, and say so.
  if (!stopReason && !hasContent(message)) {
    return { ok: false, failure: { kind: 'malformed', detail: 'the answer is empty' }, usage }
  }
  const finishReason = mapFinishReason(stopReason, message.tool_calls !== undefined)
  return {
    ok: true,
    answer: createCompletionAnswer({
      ...identity,
      choices: [{ message, finishReason, extra: found ? { trace: found } : undefined }],
      usage,
    }),
  }
}

/**
 * What a guardrail has found, when `guardrail_config` asks for it:
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseTrace.html
 */
export const trace = z.looseObject({}).nullish().catch(undefined)

export const optionalText = z.string().nullish()

const block = z.looseObject({
  text: optionalText,
  citationsContent: z
    .looseObject({
      content: z.array(z.looseObject({ text: optionalText })).nullish(),
      citations: z.array(z.unknown()).nullish().catch(undefined),
    })
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
  serviceTier,
  trace,
})

function* toCompletionMessage(
  blocks: readonly ContentBlock[],
  { json, names }: AnswerText,
): Steps<CompletionMessage> {
  const text = blocks.map(readBlockText).join('')
  const reasoning = blocks.map((b) => b.reasoningContent?.reasoningText?.text ?? '').join('')
  const thinking = collectThinking(blocks, ({ reasoningContent }) =>
    reasoningContent ? toThinking(reasoningContent) : undefined,
  )
  yield
  const calls = toToolCalls(blocks, { json, names })
  yield
  const annotations = collectAnnotations(blocks)
  yield
  const carried = carryBlocks(blocks, json)
  return {
    content: text === '' && calls.length > 0 ? null : text,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(thinking.length > 0 && { thinking_blocks: thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(annotations.length > 0 && { annotations }),
    ...(carried && { provider_content: carried }),
  }
}

interface AnswerText extends Pick<AnswerContext, 'names'> {
  readonly json: string
}

/** The JSON text is read only if the blocks are carried. */
function carryBlocks(blocks: readonly ContentBlock[], json: string): ProviderContent | undefined {
  let texts: ReadonlyMap<number, string> | undefined
  return carryContent(blocks, (index) => {
    texts ??= extractItems(json, 'output.message.content.*')
    return texts.get(index) ?? '{}'
  })
}

function collectAnnotations(blocks: readonly ContentBlock[]): readonly Annotation[] {
  // Most answers cite nothing, and need no count.
  if (!blocks.some(({ citationsContent }) => citationsContent)) return []
  let end = 0
  const annotations = blocks.flatMap((each) => {
    const start = end
    end += countCharacters(readBlockText(each))
    return toAnnotations(each.citationsContent?.citations ?? [], { start, end })
  })
  return limitAnnotations(annotations)
}

/** Converts reasoning into the members of a `thinking_blocks` entry, as the Messages API has them. */
function toThinking({ reasoningText, redactedContent }: ReasoningContent): JsonObject {
  if (redactedContent) return { data: redactedContent }
  return { thinking: reasoningText?.text ?? '', signature: reasoningText?.signature ?? '' }
}

/** Takes the arguments from the JSON text itself: parsing would round large integers. */
function toToolCalls(blocks: readonly ContentBlock[], { json, names }: AnswerText): ToolCall[] {
  if (!blocks.some(({ toolUse }) => toolUse)) return []
  const inputs = extractItems(json, 'output.message.content.*.toolUse.input')
  return blocks.flatMap(({ toolUse }, index) => {
    if (!toolUse || isServerCall(toolUse)) return []
    const text = normalizeArguments(inputs.get(index))
    const called = { name: names.restore(toolUse.name), arguments: text }
    return [{ id: toolUse.toolUseId || newCallId(), type: 'function', function: called }]
  })
}
