import {
  type EmbedInput,
  type EmbedPart,
  imagesOf,
  isTokens,
  partsOf,
} from '../../core/embeddings.ts'
import type { EmbedEndpoint, Target } from '../../core/provider.ts'
import { readOpenAiVectors } from '../openai/embed.ts'
import { plainInput } from '../shared/embed-input.ts'
import { jsonBody } from '../shared/json-body.ts'
import { errorParser } from '../shared/parse-error.ts'
import { operationUrl } from '../shared/url.ts'

/** Embeddings of Voyage AI: texts on one path, anything with images on another. */
export function voyageEmbed({ baseUrl, upstreamId }: Target): EmbedEndpoint {
  const textUrl = operationUrl(baseUrl, '/v1', '/embeddings')
  const multimodalUrl = operationUrl(baseUrl, '/v1', '/multimodalembeddings')
  // These models answer on the second path alone, even to pure text.
  const isMultimodal = upstreamId.startsWith('voyage-multimodal')
  return {
    limits: () => ({ items: 1000, tokens: 100_000 }),
    takesTokens: false,
    takesImages: true,
    takesDimensions: true,
    request({ input, dimensions }) {
      const inputs = isMultimodal || hasImages(input) ? contentsOf(input) : undefined
      return {
        url: inputs ? multimodalUrl : textUrl,
        headers: {},
        body: jsonBody({
          model: upstreamId,
          ...(inputs ? { inputs } : { input: plainInput(input) }),
          output_dimension: dimensions,
        }),
      }
    },
    answer: (body) => readOpenAiVectors(body, { countsTotal: true }),
    parseError: errorParser(),
  }
}

function hasImages(input: EmbedInput): boolean {
  return !imagesOf(input).next().done
}

function contentsOf(input: EmbedInput): object[] {
  if (isTokens(input)) return []
  return input.items.map((item) => ({ content: partsOf(item).map(contentOf) }))
}

/** The name notwithstanding, `image_base64` is a whole data URI. */
function contentOf(part: EmbedPart): object {
  return part.kind === 'text'
    ? { type: 'text', text: part.text }
    : { type: 'image_base64', image_base64: part.image.url }
}
