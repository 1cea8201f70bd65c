import { randomUUID } from 'node:crypto'
import { type Answer, hasCalls, type Part, type ToolCall } from '../conversation.ts'
import { type Reply, sseFrame } from '../dialect.ts'
import { splitJson, splitText } from '../parts.ts'

/** What an answer needs of its request. */
export interface Asked {
  readonly model: string
  readonly stream_options?: { readonly include_usage?: boolean | undefined } | null | undefined
}

/** How a vendor writes what the format leaves open. */
export interface AnswerForm {
  /** The members of a whole message for its text and its thoughts. Both may be empty. */
  message(said: Said): object
  /** The members of a delta for a piece of the thoughts. */
  thought(piece: string): object
  /** The members of a delta for a piece of the text. */
  text(piece: string): object
  /** The members of a last delta for what proves the thoughts. */
  proof?(said: Said): object | undefined
  /** Whether a whole message has the member `refusal`. Most copies of the API write it; default true. */
  readonly hasRefusal?: boolean
  /** Whether a delta has a call as a whole, instead of its arguments piece by piece. */
  readonly hasWholeCalls?: boolean
  /** Whether `[DONE]` ends a stream. */
  readonly hasDone: boolean
}

export interface Said {
  readonly text: string
  readonly thoughts: string
  readonly calls: readonly ToolCall[]
}

/** OpenAI sends no thoughts; its gateways and servers write them so. */
export const openAiForm: AnswerForm = {
  message: ({ text, thoughts }) => ({
    content: text || null,
    ...(thoughts && { reasoning_content: thoughts }),
  }),
  thought: (piece) => ({ reasoning_content: piece }),
  text: (piece) => ({ content: piece }),
  hasDone: true,
}

export function wholeReply({ model }: Asked, given: Answer, form = openAiForm): Reply {
  const said = readSaid(given)
  const message = {
    role: 'assistant',
    ...form.message(said),
    ...(form.hasRefusal !== false && { refusal: null }),
    ...(said.calls.length > 0 && {
      tool_calls: said.calls.map((call) => toToolCall(call, JSON.stringify(call.input))),
    }),
  }
  const choice = { index: 0, message, logprobs: null, finish_reason: toFinish(given) }
  const body = { ...newHead(model, 'chat.completion'), choices: [choice], usage: toUsage(given) }
  return { kind: 'whole', model, body }
}

function readSaid({ parts }: Answer): Said {
  const join = (kind: 'text' | 'reasoning') =>
    parts.map((part) => (part.kind === kind ? part.text : '')).join('')
  const calls = parts.flatMap((part) => (part.kind === 'call' ? [part] : []))
  return { text: join('text'), thoughts: join('reasoning'), calls }
}

export function streamReply(
  { model, stream_options: options }: Asked,
  given: Answer,
  form = openAiForm,
): Reply {
  const head = newHead(model, 'chat.completion.chunk')
  const hasUsage = options?.include_usage === true
  const chunk = (fields: object) =>
    sseFrame({ ...head, ...(hasUsage && { usage: null }), ...fields })
  const delta = (fields: object, finish: string | null = null) =>
    chunk({ choices: [{ index: 0, delta: fields, logprobs: null, finish_reason: finish }] })
  let calls = 0
  const deltas = given.parts.flatMap((part) =>
    toDeltas(part, { form, index: part.kind === 'call' ? calls++ : 0 }),
  )
  const proof = form.proof?.(readSaid(given))
  const frames = [
    delta({ role: 'assistant', content: '' }),
    ...[...deltas, ...(proof ? [proof] : [])].map((each) => delta(each)),
    delta({}, toFinish(given)),
    ...(hasUsage ? [chunk({ choices: [], usage: toUsage(given) })] : []),
    ...(form.hasDone ? ['data: [DONE]\n\n'] : []),
  ]
  return { kind: 'stream', model, contentType: 'text/event-stream; charset=utf-8', frames }
}

interface Place {
  readonly form: AnswerForm
  /** Counts the calls. */
  readonly index: number
}

function toDeltas(part: Part, { form, index }: Place): object[] {
  switch (part.kind) {
    case 'reasoning':
      return splitText(part.text).map((text) => form.thought(text))
    case 'veiled':
      return []
    case 'text':
      return splitText(part.text).map((text) => form.text(text))
    case 'call':
      if (form.hasWholeCalls)
        return [{ tool_calls: [{ index, ...toToolCall(part, JSON.stringify(part.input)) }] }]
      return [
        { tool_calls: [{ index, ...toToolCall(part, '') }] },
        ...splitJson(part.input).map((piece) => ({
          tool_calls: [{ index, function: { arguments: piece } }],
        })),
      ]
    default:
      return part satisfies never
  }
}

function toToolCall({ id, name }: ToolCall, json: string) {
  return { id, type: 'function', function: { name, arguments: json } }
}

function toFinish(given: Answer): string {
  return hasCalls(given) ? 'tool_calls' : 'stop'
}

function toUsage({ usage }: Answer): object {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  }
}

function newHead(model: string, object: string): object {
  const created = Math.floor(Date.now() / 1000)
  return { id: `chatcmpl-${randomUUID()}`, object, created, model, service_tier: 'default' }
}
