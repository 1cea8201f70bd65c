import type { AnswerBody } from '../../core/endpoints.ts'
import { isObject, type JsonObject } from '../../wire/json/parse.ts'
import { extractTexts } from '../../wire/json/text.ts'
import { keepJson, writeEvent } from '../base/answer-events.ts'

/**
 * Writes a whole answer as a stream, for an upstream that answered a streamed request so.
 * https://docs.cohere.com/reference/chat-stream
 */
export function writeAnswerEvents({ value, text }: AnswerBody): Uint8Array {
  const { id, message, finish_reason: reason, usage, logprobs } = toMembers(value)
  const { content, tool_plan: plan, tool_calls: calls, citations } = toMembers(message)
  const cited = extractTexts(text, 'message.citations.*')
  const events = [
    write('message-start', { id }),
    ...listObjects(content).map((part, index) =>
      // The log probabilities are those of the text, whichever block it is in.
      write('content-delta', { index, delta: { message: { content: part } }, logprobs }),
    ),
    ...(plan ? [write('tool-plan-delta', { delta: { message: { tool_plan: plan } } })] : []),
    ...listObjects(calls).flatMap((call, index) => [
      write('tool-call-start', { index, delta: { message: { tool_calls: call } } }),
      write('tool-call-end', { index }),
    ]),
    ...listObjects(citations).map((citation, index) => {
      const raw = keepJson(cited.get(`message.citations.${index}`), citation)
      return write('citation-start', { index, delta: { message: { citations: raw } } })
    }),
    write('message-end', { delta: { finish_reason: reason, usage } }),
  ]
  return new TextEncoder().encode(events.join(''))
}

function write(type: string, members: object): string {
  return writeEvent({ type, ...members }, type)
}

function toMembers(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

function listObjects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
