import * as z from 'zod'
import type { ChatCall } from '../../core/chat.ts'
import type { AnswerBody, ChatResult } from '../../core/endpoints.ts'
import type { UpstreamFailure } from '../../core/failure.ts'
import { newCallId, newCompletionId } from '../../core/ids.ts'
import type { Steps } from '../../core/steps.ts'
import type { ReportedUsage } from '../../core/usage.ts'
import { extractItems } from '../../wire/json/text.ts'
import type { ToolNames } from '../../wire/tool-names.ts'
import { isStatedError, toAnswerFailure, toShapeFailure } from '../base/hidden-error.ts'
import { type Annotation, countCharacters, limitAnnotations } from '../canonical/annotations.ts'
import { createCompletionAnswer, type ToolCall } from '../canonical/completion.ts'
import { type Citation, citationSchema, toAnnotations } from './citations.ts'
import {
  type AnswerContent,
  type ContentCounts,
  carryContent,
  isEmptyArguments,
} from './content.ts'
import { mapFailureStatus, mapFinishReason } from './finish-reason.ts'
import { parseUsage } from './usage.ts'

/** The facts of a call that its answer needs. */
export interface AnswerContext extends Pick<ChatCall, 'wantsLogprobs'> {
  /** The client-facing id of the model. */
  readonly model: string
  /** Start of the answer, in Unix seconds. */
  readonly created: number
  /** The names of the tools of the request. */
  readonly names: ToolNames
}

const text = z.string().nullish()

const block = z.looseObject({ type: text, text, thinking: text })

export const toolCallSchema = z.looseObject({
  id: text,
  function: z.looseObject({ name: text, arguments: text }).nullish(),
})

const message = z.looseObject({
  content: z.array(block).nullish(),
  tool_plan: text,
  tool_calls: z.array(toolCallSchema).nullish(),
  citations: z.array(citationSchema).nullish().catch(undefined),
})

const answer = z.looseObject({
  id: text,
  finish_reason: text,
  message: message.nullish(),
  usage: z.unknown().optional(),
  logprobs: z.unknown().optional(),
})

/**
 * Parses an answer of `POST /v2/chat` that is not streamed.
 * https://docs.cohere.com/reference/chat
 */
export function* parseAnswer(body: AnswerBody, context: AnswerContext): Steps<ChatResult> {
  const { text: json, value } = body
  const parsed = answer.safeParse(value)
  if (!parsed.success || !parsed.data.message) {
    return failed(toShapeFailure(value, 'the answer is not a Cohere chat response'))
  }
  const { id, finish_reason: reason, message: answered, usage, logprobs, error } = parsed.data
  if (isStatedError(error)) return failed(toAnswerFailure(value), parseUsage(usage))
  const status = mapFailureStatus(reason)
  if (status !== undefined) {
    const detail = `the answer ended with finish_reason ${reason}`
    const vendor = { code: reason ?? undefined }
    return failed({ kind: 'status', status, message: detail, vendor }, parseUsage(usage))
  }
  yield
  const calls = (answered.tool_calls ?? []).map((call) => toOpenAiToolCall(call, context.names))
  const texts = answered.content?.map((part) => part.text ?? '') ?? []
  const content = texts.join('')
  // Models do end without a word, and say so.
  if (!reason && content === '' && calls.length === 0) {
    return failed({ kind: 'malformed', detail: 'the answer is empty' }, parseUsage(usage))
  }
  yield
  const carried = carryContent(describe(answered), () => readContent(json, answered.tool_plan))
  yield
  const annotations = collectAnnotations(answered.citations ?? [], texts)
  const thought = joinTexts(answered.content?.map((part) => part.thinking))
  // The plan is reasoning about the calls, not part of the answer.
  const reasoning = [thought, answered.tool_plan].filter(Boolean).join('\n')
  yield
  return {
    ok: true,
    answer: createCompletionAnswer({
      id: id || newCompletionId(),
      created: context.created,
      model: context.model,
      choices: [
        {
          message: {
            content: content === '' && calls.length > 0 ? null : content,
            ...(reasoning !== '' && { reasoning_content: reasoning }),
            ...(calls.length > 0 && { tool_calls: calls }),
            ...(annotations.length > 0 && { annotations }),
            ...(carried && { provider_content: carried }),
          },
          finishReason: mapFinishReason(reason, calls.length > 0),
          logprobs: context.wantsLogprobs ? toOpenAiLogprobs(logprobs) : undefined,
        },
      ],
      usage: parseUsage(usage),
    }),
  }
}

function describe({
  content,
  tool_plan: plan,
  tool_calls: calls,
  citations,
}: z.infer<typeof message>): ContentCounts {
  let texts = 0
  let thoughts = 0
  for (const part of content ?? []) {
    if (part.text) texts++
    if (part.thinking) thoughts++
  }
  return {
    texts,
    thoughts,
    hasPlan: Boolean(plan),
    calls: calls?.length ?? 0,
    citations: citations?.length ?? 0,
  }
}

/** Takes the contents from the JSON text itself: parsing would round large numbers. */
function readContent(json: string, plan: string | null | undefined): AnswerContent {
  const list = (member: string) => [...extractItems(json, `message.${member}.*`).values()]
  return {
    parts: list('content'),
    plan: plan ?? '',
    calls: list('tool_calls'),
    citations: list('citations'),
  }
}

function toOpenAiToolCall(
  { id, function: called }: z.infer<typeof toolCallSchema>,
  names: ToolNames,
): ToolCall {
  const given = called?.arguments ?? ''
  return {
    id: id || newCallId(),
    type: 'function',
    function: {
      name: names.restore(called?.name ?? ''),
      arguments: isEmptyArguments(given) ? '{}' : given,
    },
  }
}

function collectAnnotations(
  citations: readonly Citation[],
  texts: readonly string[],
): readonly Annotation[] {
  // Most answers cite nothing, and need no count.
  if (citations.length === 0) return []
  const starts = measureStarts(texts)
  return limitAnnotations(citations.flatMap((cited) => toAnnotations(cited, starts)))
}

/** Returns the start of each block in the joined text, in characters. */
function measureStarts(texts: readonly string[]): number[] {
  let length = 0
  return texts.map((piece) => {
    const start = length
    length += countCharacters(piece)
    return start
  })
}

function joinTexts(pieces: readonly (string | null | undefined)[] = []): string {
  return pieces.map((piece) => piece ?? '').join('')
}

const logprobItems = z.array(z.looseObject({ text: z.string(), logprobs: z.array(z.number()) }))

const encoder = new TextEncoder()

/**
 * Log probabilities in OpenAI's shape. One item may cover several tokens: their log probabilities
 * add up.
 */
export function toOpenAiLogprobs(value: unknown): object | undefined {
  const items = logprobItems.safeParse(value)
  if (!items.success) return undefined
  const content = items.data.map(({ text: token, logprobs }) => ({
    token,
    logprob: logprobs.reduce((sum, logprob) => sum + logprob, 0),
    bytes: [...encoder.encode(token)],
    top_logprobs: [],
  }))
  return { content, refusal: null }
}

function failed(failure: UpstreamFailure, usage?: ReportedUsage): ChatResult {
  return { ok: false, failure, usage }
}
