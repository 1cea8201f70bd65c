import type { CountDoor, ReceivedRequest } from '../../data-plane/index.ts'
import { readJsonBody } from '../../wire/json-body.ts'
import { messagesForm } from './error.ts'
import { estimatePrompt } from './estimate.ts'
import { matchCount } from './match.ts'
import { readApiFacts } from './native.ts'
import { cutOwnBlocks, hasOwnBlocks } from './own-blocks.ts'
import { checkCountRequest } from './schema.ts'

const encoder = new TextEncoder()

/** Counts the tokens of a Messages request. */
export const countTokensDoor: CountDoor = Object.freeze<CountDoor>({
  api: 'messages',
  path: '/v1/messages/count_tokens',
  form: messagesForm,
  async read({ bytes, request, slice, isUtf8 }: ReceivedRequest) {
    const api = readApiFacts(request)
    const matched = matchCount(bytes, isUtf8)
    if (matched) {
      const { head, layout, promptTokens } = matched
      return { model: head.model, native: { bytes, layout, stream: false, ...api }, promptTokens }
    }
    await slice.pause()
    const { layout, value } = await readJsonBody(bytes, {
      names: ['model', 'stream_options'],
      unique: ['model'],
      timeSlice: slice,
    })
    const parsed = checkCountRequest(value)
    const native = { bytes, layout, stream: false, ...api }
    return {
      model: parsed.model,
      native: hasOwnBlocks(parsed.messages) ? cutOwnBlocks(native, parsed.messages) : native,
      promptTokens: estimatePrompt(parsed),
    }
  },
  renderEstimate: (tokens) =>
    encoder.encode(JSON.stringify({ input_tokens: tokens, estimated: true })),
})
