import type { EmbedCall, EncodingFormat } from '../../core/embeddings.ts'
import type { Usage } from '../../core/usage.ts'
import { type EmbedDoor, type EmbedDoorCall, getEndpoint, type VectorWriting } from './door.ts'
import { readEmbed } from './input.ts'
import { matchEmbed, passesAsWritten } from './match.ts'

/** `POST /v1/embeddings`, in the form of the OpenAI API. */
export const openAiEmbeddings: EmbedDoor = Object.freeze<EmbedDoor>({
  paths: ['/v1/embeddings', '/openai/deployments/:model+/embeddings'],
  async read({ bytes, slice, isUtf8 }) {
    const matched = matchEmbed(bytes, isUtf8)
    if (!matched) return toDoorCall(await readEmbed(bytes, slice)) // LM-1001
    return {
      ...toDoorCall(matched),
      // Some links need the texts themselves.
      readAgain: (route) =>
        passesAsWritten(matched, route) ? undefined : readEmbed(bytes, slice).then(toDoorCall),
    }
  },
})

function toDoorCall(call: EmbedCall): EmbedDoorCall {
  return {
    model: call.model,
    sets: [call],
    writing: writings[call.encoding],
    listDropped(link) {
      const isDropped = call.dimensions !== undefined && !getEndpoint(link).supportsDimensions
      return isDropped ? ['dimensions'] : []
    },
  }
}

const writings: Readonly<Record<EncodingFormat, VectorWriting>> = {
  float: createWriting('[', ']'),
  base64: createWriting('"', '"'),
}

function createWriting(opening: string, closing: string): VectorWriting {
  return {
    before(index) {
      const head = index === 0 ? '{"object":"list","data":[' : ','
      return `${head}{"object":"embedding","index":${index},"embedding":${opening}`
    },
    after: `${closing}}`,
    end: ({ model, usage }) =>
      `],"model":${JSON.stringify(model)},"usage":${JSON.stringify(renderUsage(usage))}}`,
  }
}

function renderUsage({ promptTokens, totalTokens, estimated }: Usage): object {
  return {
    prompt_tokens: promptTokens,
    total_tokens: totalTokens,
    ...(estimated && { estimated: true }),
  }
}
