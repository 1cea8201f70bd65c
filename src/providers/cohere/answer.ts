import * as z from 'zod'
import type { ChatCall } from '../../core/chat.ts'
import type { UpstreamFailure } from '../../core/failure.ts'
import { newCallId, newCompletionId } from '../../core/ids.ts'
import type { ChatResult } from '../../core/provider.ts'
import { tryParseJson } from '../../wire/json.ts'
import { createCompletionAnswer, type ToolCall } from '../canonical/completion.ts'
import { citationSchema, toAnnotations } from './citations.ts'
import { mapFailureStatus, mapFinishReason } from './finish-reason.ts'
import { parseUsage } from './usage.ts'

/** What an answer is made for. */
export interface AnswerContext extends Pick<ChatCall, 'wantsLogprobs'> {
  /** The client-facing id of the model. */
  readonly model: string
  /** Unix seconds. */
  readonly created: number
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

/** Reads a whole answer of `POST /v2/chat`. */
export function parseAnswer(body: Uint8Array, context: AnswerContext): ChatResult {
  const parsed = answer.safeParse(tryParseJson(body))
  if (!parsed.success || !parsed.data.message) {
    return failed({ kind: 'malformed', detail: 'the answer holds no message of the cohere API' })
  }
  const { id, finish_reason: reason, message: said, usage, logprobs } = parsed.data
  const status = mapFailureStatus(reason)
  if (status !== undefined) {
    const told = `the answer ended in ${reason}`
    return failed({ kind: 'status', status, message: told, vendor: { code: reason ?? undefined } })
  }
  const calls = (said.tool_calls ?? []).map(toOpenAiToolCall)
  const texts = said.content?.map((part) => part.text ?? '') ?? []
  const content = texts.join('')
  const annotations = (said.citations ?? []).flatMap((cited) =>
    toAnnotations(cited, measureStarts(texts)),
  )
  const thought = joinTexts(said.content?.map((part) => part.thinking))
  // The plan is a thought about the calls: it must not pass for the answer.
  const reasoning = [thought, said.tool_plan].filter(Boolean).join('\n')
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
          },
          finishReason: mapFinishReason(reason, calls.length > 0),
          logprobs: context.wantsLogprobs ? toOpenAiLogprobs(logprobs) : undefined,
        },
      ],
      usage: parseUsage(usage),
    }),
  }
}

function toOpenAiToolCall({ id, function: called }: z.infer<typeof toolCallSchema>): ToolCall {
  const given = called?.arguments ?? ''
  return {
    id: id || newCallId(),
    type: 'function',
    // A function without parameters is called with no text, or with the text `null`.
    function: { name: called?.name ?? '', arguments: isEmptyArguments(given) ? '{}' : given },
  }
}

function isEmptyArguments(given: string): boolean {
  return given.trim() === '' || given.trim() === 'null'
}

/** Where each block begins in the text of all of them, in characters. */
function measureStarts(texts: readonly string[]): number[] {
  let length = 0
  return texts.map((said) => {
    const start = length
    length += [...said].length
    return start
  })
}

function joinTexts(pieces: readonly (string | null | undefined)[] = []): string {
  return pieces.map((piece) => piece ?? '').join('')
}

const logprobItems = z.array(z.looseObject({ text: z.string(), logprobs: z.array(z.number()) }))

const encoder = new TextEncoder()

/** Log probabilities in OpenAI's shape. An item covers a piece of text, which may be several tokens. */
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

function failed(failure: UpstreamFailure): ChatResult {
  return { ok: false, failure }
}
