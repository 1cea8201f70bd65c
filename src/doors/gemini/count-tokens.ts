import type { CountDoor, ReceivedRequest } from '../../data-plane/index.ts'
import { readJsonBody } from '../../wire/json/body.ts'
import { RequestProofs } from '../request-proofs.ts'
import { methodPath, readAddress } from './address.ts'
import { geminiForm } from './error.ts'
import { estimatePrompt } from './estimate.ts'
import { checkCountRequest } from './schema.ts'
import { listProofs, openSignature } from './signatures.ts'
import { unifySpelling } from './spelling.ts'

const encoder = new TextEncoder()

/** Counts the tokens of a request to generate. */
export const geminiCountDoor: CountDoor = Object.freeze<CountDoor>({
  api: 'gemini',
  paths: [methodPath('countTokens')],
  form: geminiForm,
  async read({ bytes, request, slice }: ReceivedRequest) {
    const { model } = readAddress(request.url)
    const { layout, value } = await readJsonBody(bytes, {
      names: ['model', 'stream_options'],
      unique: [],
      timeSlice: slice,
    })
    const unified = unifySpelling(value)
    await slice.pause()
    const parsed = checkCountRequest(unified)
    await slice.pause()
    const proofs = new RequestProofs(openSignature)
    await proofs.check(listProofs(parsed), { values: layout.values, slice })
    await slice.pause()
    return {
      model,
      native: { bytes, layout, stream: false, headers: {}, query: '' },
      promptTokens: estimatePrompt(parsed, proofs),
    }
  },
  renderEstimate: (tokens) =>
    encoder.encode(
      JSON.stringify({
        totalTokens: tokens,
        promptTokensDetails: [{ modality: 'TEXT', tokenCount: tokens }],
        estimated: true,
      }),
    ),
})
