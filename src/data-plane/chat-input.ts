import { type ChatCall, chatRequest } from '../core/chat.ts'
import { invalidField } from '../core/invalid-field.ts'
import { parseObject } from '../wire/body.ts'
import { checkDepth } from '../wire/body-depth.ts'
import { layoutOf } from '../wire/json-splice.ts'

/** Reads a chat completion request, LM-1001 with the field at fault when it cannot be one. */
export function parseChat(bytes: Uint8Array): ChatCall {
  const layout = layoutOf(bytes, ['model', 'stream_options'])
  checkDepth(layout)
  const parsed = chatRequest.safeParse(parseObject(bytes))
  if (!parsed.success) throw invalidField(parsed.error)
  const request = parsed.data
  return {
    bytes,
    request,
    layout,
    stream: request.stream === true,
    wantsUsageChunk: request.stream_options?.include_usage === true,
  }
}
