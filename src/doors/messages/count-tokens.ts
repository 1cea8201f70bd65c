import type { CountDoor, ReceivedRequest } from '../../data-plane/index.ts'
import { readJsonBody } from '../../wire/json/body.ts'
import { RequestProofs } from '../request-proofs.ts'
import { messagesForm } from './error.ts'
import { estimatePrompt } from './estimate.ts'
import { matchCount } from './match.ts'
import { readApiFacts } from './native.ts'
import { cutUnproven, hasUnsigned, listOwnProofs } from './own-blocks.ts'
import { checkCountRequest } from './schema.ts'

const encoder = new TextEncoder()

/** Counts the tokens of a Messages request. */
export const countTokensDoor: CountDoor = Object.freeze<CountDoor>({
  api: 'messages',
  paths: ['/v1/messages/count_tokens'],
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
    const own = listOwnProofs(parsed.messages)
    const proofs = new RequestProofs()
    await proofs.check(own, { values: layout.values, slice })
    const isCut = own.length > 0 || hasUnsigned(parsed.messages)
    return {
      model: parsed.model,
      native: isCut ? cutUnproven(native, parsed.messages) : native,
      promptTokens: estimatePrompt(parsed, { proofs }),
    }
  },
  renderEstimate: (tokens) =>
    encoder.encode(JSON.stringify({ input_tokens: tokens, estimated: true })),
})
