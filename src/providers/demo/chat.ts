import * as z from 'zod'
import type { Clock } from '../../core/ports.ts'
import { unixSeconds } from '../../core/unix-seconds.ts'
import type { ToolCall } from '../canonical/completion.ts'
import { type DemoAnswer, type DemoEvent, rejectRequest } from './answer.ts'
import { createSample } from './sample.ts'
import { demoToolChoice, demoTools, findDemandedCall, toCallDeltas } from './tools.ts'
import { excerptText, greet, splitWords } from './words.ts'

/** OpenAI's limit of `n`. */
const maxChoices = 128

const part = z.looseObject({ text: z.string().nullish() })

const demoRequest = z.looseObject({
  model: z.string(),
  messages: z.array(
    z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(part)]).nullish() }),
  ),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.int().min(1).max(maxChoices).nullish(),
  max_tokens: z.number().nullish(),
  max_completion_tokens: z.number().nullish(),
  tools: demoTools.nullish(),
  tool_choice: demoToolChoice.nullish(),
  response_format: z
    .looseObject({
      type: z.string(),
      json_schema: z.looseObject({ schema: z.unknown().optional() }).optional(),
    })
    .nullish(),
})

type DemoRequest = z.infer<typeof demoRequest>

/** The content of every choice of an answer. */
interface DemoReply {
  readonly words: readonly string[]
  readonly call: ToolCall | undefined
  readonly finish: 'stop' | 'length' | 'tool_calls'
  readonly usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number }
}

/**
 * Answers a chat completion: repeats the user's message, calls a tool that the request demands, or
 * generates a JSON value for the requested schema. One word counts as one token, with and without
 * streaming.
 */
export function answerChat(body: unknown, clock: Clock): DemoAnswer {
  const parsed = demoRequest.safeParse(body)
  if (!parsed.success) return rejectRequest(parsed.error)
  const request = parsed.data
  const reply = createReply(request)
  const head = {
    id: `chatcmpl-demo-${crypto.randomUUID()}`,
    created: unixSeconds(clock),
    model: request.model,
  }
  if (request.stream) return { status: 200, events: toEvents(request, reply, head) }
  return {
    status: 200,
    json: {
      ...head,
      object: 'chat.completion',
      choices: toChoices(request, reply),
      usage: reply.usage,
    },
  }
}

function createReply(request: DemoRequest): DemoReply {
  const texts = request.messages.map(joinTexts)
  const call = createCall(request, texts.at(-1) ?? '')
  const limit = request.max_completion_tokens ?? request.max_tokens ?? Number.POSITIVE_INFINITY
  const words = call ? [] : splitWords(createText(request, texts))
  const kept = words.slice(0, limit)
  // A message without words, such as an image, counts as one token: no prompt has 0 tokens.
  const prompt = texts.reduce((sum, text) => sum + Math.max(1, splitWords(text).length), 0)
  const completion = call ? splitWords(call.function.arguments).length : kept.length
  const cut = kept.length < words.length
  return {
    words: kept,
    call,
    finish: call ? 'tool_calls' : cut ? 'length' : 'stop',
    usage: {
      prompt_tokens: prompt,
      completion_tokens: completion * (request.n ?? 1),
      total_tokens: prompt + completion * (request.n ?? 1),
    },
  }
}

/** Returns no call after a tool's answer; otherwise an agent that always demands one would loop. */
function createCall({ messages, tools, tool_choice: choice }: DemoRequest, last: string) {
  const role = messages.at(-1)?.role
  if (!tools || role === 'tool') return undefined
  return findDemandedCall({ tools, choice, asked: role === 'user' ? last : '' })
}

function createText(request: DemoRequest, texts: readonly string[]): string {
  const format = request.response_format
  if (format?.type === 'json_schema')
    return JSON.stringify(createSample(format.json_schema?.schema))
  const last = texts.at(-1) ?? ''
  if (format?.type === 'json_object') return JSON.stringify({ you_said: excerptText(last) })
  return request.messages.at(-1)?.role === 'tool'
    ? `The tool answered: ${excerptText(last)}`
    : greet(last)
}

function toChoices(request: DemoRequest, { words, call, finish }: DemoReply): object[] {
  return Array.from({ length: request.n ?? 1 }, (_, index) => ({
    index,
    message: {
      role: 'assistant',
      content: call ? null : words.join(''),
      refusal: null,
      ...(call && { tool_calls: [call] }),
    },
    logprobs: null,
    finish_reason: finish,
  }))
}

function toEvents(
  request: DemoRequest,
  { words, call, finish, usage }: DemoReply,
  head: object,
): DemoEvent[] {
  const chunk = (fields: object) =>
    JSON.stringify({ ...head, object: 'chat.completion.chunk', ...fields })
  const choice = (index: number, delta: object, finishReason: string | null): string =>
    chunk({ choices: [{ index, delta, finish_reason: finishReason }] })
  const events: DemoEvent[] = []
  for (let index = 0; index < (request.n ?? 1); index++) {
    const content = call ? null : ''
    events.push({ data: choice(index, { role: 'assistant', content }, null), tokens: 0 })
    for (const delta of call ? toCallDeltas(call) : words.map((word) => ({ content: word }))) {
      events.push({ data: choice(index, delta, null), tokens: 1 })
    }
    events.push({ data: choice(index, {}, finish), tokens: 0 })
  }
  // A client that did not ask for usage may expect a choice in every chunk.
  const choices = request.stream_options?.include_usage
    ? []
    : [{ index: 0, delta: {}, finish_reason: null }]
  events.push({ data: chunk({ choices, usage }), tokens: 0 })
  return [...events, { data: '[DONE]', tokens: 0 }]
}

function joinTexts({ content }: DemoRequest['messages'][number]): string {
  if (typeof content === 'string') return content
  return (content ?? []).map(({ text }) => text ?? '').join(' ')
}
