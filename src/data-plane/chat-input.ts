import { asSent } from '../core/as-sent.ts'
import { type ChatCall, chatRequest } from '../core/chat.ts'
import { invalidField } from '../core/invalid-field.ts'
import { readJsonBody } from '../wire/json-body.ts'
import type { Pace } from '../wire/pace.ts'

/** What the gateway routes and prices by. Upstreams differ in which of several they take. */
const unique = [
  'model',
  'stream',
  'n',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
] as const

const names = [...unique, 'stream_options'] as const

/** Reads a chat completion request, LM-1001 with the field at fault when it cannot be one. */
export async function readChat(bytes: Uint8Array, pace: Pace): Promise<ChatCall> {
  const { layout, value } = await readJsonBody(bytes, { names, unique, pace })
  return chatCall(bytes, layout, value)
}

/** The call that a body makes, once it has been parsed. */
export function chatCall(bytes: Uint8Array, layout: ChatCall['layout'], value: unknown): ChatCall {
  const read = asSent(chatRequest, value)
  if (!read.success) throw invalidField(read.error)
  const request = read.data
  return {
    bytes,
    request,
    layout,
    stream: request.stream === true,
    wantsUsageChunk: request.stream_options?.include_usage === true,
  }
}
