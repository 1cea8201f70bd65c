import * as z from 'zod'
import {
  type EmbedPart,
  isTokenInput,
  type MixedItem,
  toEmbedParts,
  vectorValue,
} from '../../core/embeddings.ts'
import type { EmbedEndpoint } from '../../core/provider.ts'
import { parseDataUri } from '../../wire/data-uri.ts'
import { toEmbedFailure, toEmbedResult } from '../shared/embed-answer.ts'
import { encodeJsonBody } from '../shared/request.ts'
import { parseError } from './errors.ts'
import { methodUrl } from './url.ts'

/** Embeddings of the Gemini API. `modelUrl` is the address of the model, its query is kept. */
export function geminiEmbed(modelUrl: URL): EmbedEndpoint {
  const { href: url } = methodUrl(modelUrl, 'batchEmbedContents')
  // Each request of the batch repeats the name in the address.
  const [model = ''] = /(?:models|tunedModels)\/[^/]+$/.exec(modelUrl.pathname) ?? []
  return {
    getLimits: () => ({ items: 100 }),
    supportsTokenIds: false,
    supportsImages: canEmbedImages(model),
    supportsDimensions: true,
    buildRequest: ({ input, dimensions }) => ({
      url,
      headers: {},
      body: encodeJsonBody({
        requests: (isTokenInput(input) ? [] : input.items).map((item) => ({
          model,
          content: toContent(item),
          outputDimensionality: dimensions,
        })),
      }),
    }),
    parseAnswer(body) {
      const parsed = batchAnswer.safeParse(body)
      if (!parsed.success) return toEmbedFailure(body)
      const { embeddings, usageMetadata } = parsed.data
      const vectors = embeddings.map(({ values }) => values)
      return toEmbedResult(vectors, usageMetadata?.promptTokenCount)
    },
    parseError,
  }
}

/** The first generation knows text only. */
export function canEmbedImages(model: string): boolean {
  return /gemini-embedding-(?!001)/i.test(model)
}

/** One item. Several in one content would be fused into one vector. */
export function toContent(item: MixedItem): object {
  return { parts: toEmbedParts(item).map(toPart) }
}

function toPart(part: EmbedPart): object {
  if (part.kind === 'text') return { text: part.text }
  const uri = parseDataUri(part.image.url)
  return { inlineData: { mimeType: uri?.mediaType, data: uri?.payload } }
}

/** Newer models report it, though no type of the vendor's declares it. */
export const embedUsage = z
  .looseObject({ promptTokenCount: z.unknown().optional() })
  .nullish()
  .catch(undefined)

const batchAnswer = z.looseObject({
  embeddings: z.array(z.looseObject({ values: vectorValue })),
  usageMetadata: embedUsage,
})
