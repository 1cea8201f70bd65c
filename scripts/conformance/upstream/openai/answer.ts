import { randomUUID } from 'node:crypto'
import { type Answer, hasCalls, type Part, type ToolCall } from '../conversation.ts'
import { type Reply, sseFrame } from '../dialect.ts'
import { splitJson, splitText } from '../parts.ts'
import type { ChatRequest } from './request.ts'

export function wholeReply({ model }: ChatRequest, given: Answer): Reply {
  const calls = given.parts.flatMap((part) => (part.kind === 'call' ? [part] : []))
  const thoughts = joinTexts(given, 'reasoning')
  const message = {
    role: 'assistant',
    content: joinTexts(given, 'text') || null,
    refusal: null,
    ...(thoughts && { reasoning_content: thoughts }),
    ...(calls.length > 0 && {
      tool_calls: calls.map((call) => toToolCall(call, JSON.stringify(call.input))),
    }),
  }
  const choice = { index: 0, message, logprobs: null, finish_reason: toFinish(given) }
  const body = { ...newHead(model, 'chat.completion'), choices: [choice], usage: toUsage(given) }
  return { kind: 'whole', model, body }
}

function joinTexts({ parts }: Answer, kind: 'text' | 'reasoning'): string {
  return parts.map((part) => (part.kind === kind ? part.text : '')).join('')
}

export function streamReply({ model, stream_options: options }: ChatRequest, given: Answer): Reply {
  const head = newHead(model, 'chat.completion.chunk')
  const hasUsage = options?.include_usage === true
  const chunk = (fields: object) =>
    sseFrame({ ...head, ...(hasUsage && { usage: null }), ...fields })
  const delta = (fields: object, finish: string | null = null) =>
    chunk({ choices: [{ index: 0, delta: fields, logprobs: null, finish_reason: finish }] })
  let calls = 0
  const deltas = given.parts.flatMap((part) => toDeltas(part, part.kind === 'call' ? calls++ : 0))
  const frames = [
    delta({ role: 'assistant', content: '' }),
    ...deltas.map((each) => delta(each)),
    delta({}, toFinish(given)),
    ...(hasUsage ? [chunk({ choices: [], usage: toUsage(given) })] : []),
    'data: [DONE]\n\n',
  ]
  return { kind: 'stream', model, contentType: 'text/event-stream; charset=utf-8', frames }
}

/** The deltas of a part. `index` counts the calls. */
function toDeltas(part: Part, index: number): object[] {
  switch (part.kind) {
    case 'reasoning':
      return splitText(part.text).map((text) => ({ reasoning_content: text }))
    case 'veiled':
      return []
    case 'text':
      return splitText(part.text).map((text) => ({ content: text }))
    case 'call':
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
