import * as z from 'zod'
import {
  type EmbedPart,
  isTokenInput,
  type MixedItem,
  toEmbedParts,
  vectorValue,
} from '../../core/embeddings.ts'
import type { EmbedEndpoint, EmbedResult } from '../../core/endpoints.ts'
import { parseDataUri } from '../../wire/data-uri.ts'
import { isObject } from '../../wire/json/parse.ts'
import { toEmbedFailure, toEmbedResult } from '../base/embed-answer.ts'
import { type InputTypeWords, toVendorInputType } from '../base/embed-input-type.ts'
import { encodeJsonBody } from '../base/request.ts'
import { parseError } from './errors.ts'
import { nativeGeminiEmbed } from './native-embed.ts'
import { methodUrl } from './url.ts'

/** Embeddings on the Gemini API. `modelUrl` is the address of the model; its query is kept. */
export function geminiEmbed(modelUrl: URL): EmbedEndpoint {
  const { href: url } = methodUrl(modelUrl, 'batchEmbedContents')
  // Each request of the batch repeats the model's name from the address.
  const [model = ''] = /(?:models|tunedModels)\/[^/]+$/.exec(modelUrl.pathname) ?? []
  return {
    getLimits: () => ({ items: 100 }),
    supportsTokenIds: false,
    supportsImages: canEmbedImages(model),
    supportsDimensions: true,
    takesInputType: 'when-mapped',
    buildRequest: ({ input, dimensions, inputType }) => ({
      url,
      headers: {},
      body: encodeJsonBody({
        requests: (isTokenInput(input) ? [] : input.items).map((item) => ({
          model,
          content: toContent(item),
          outputDimensionality: dimensions,
          taskType: toVendorInputType({ inputType }, taskTypes),
        })),
      }),
    }),
    parseAnswer: parseBatchAnswer,
    parseError,
    native: {
      gemini: nativeGeminiEmbed({
        modelUrl,
        parseAnswer: (body) =>
          isObject(body) && 'embedding' in body ? parseContentAnswer(body) : parseBatchAnswer(body),
      }),
    },
  }
}

function parseBatchAnswer(body: unknown): EmbedResult {
  const parsed = batchAnswer.safeParse(body)
  if (!parsed.success) return toEmbedFailure(body)
  const { embeddings, usageMetadata } = parsed.data
  const vectors = embeddings.map(({ values }) => values)
  return toEmbedResult(vectors, usageMetadata?.promptTokenCount)
}

/** Parses the answer to `:embedContent`. */
export function parseContentAnswer(body: unknown): EmbedResult {
  const parsed = contentAnswer.safeParse(body)
  if (!parsed.success) return toEmbedFailure(body)
  const { embedding, usageMetadata } = parsed.data
  return toEmbedResult([embedding.values], usageMetadata?.promptTokenCount)
}

/** The task types of Google's models: https://ai.google.dev/gemini-api/docs/embeddings#task-types */
export const taskTypes: InputTypeWords = Object.freeze({
  search_document: 'RETRIEVAL_DOCUMENT',
  search_query: 'RETRIEVAL_QUERY',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
})

/** Whether the model embeds images, as all Gemini embedding models after the first one do. */
export function canEmbedImages(model: string): boolean {
  return /gemini-embedding-(?!001)/i.test(model)
}

/** The content of one item. The service fuses all parts of a content into one vector. */
export function toContent(item: MixedItem): object {
  return { parts: toEmbedParts(item).map(toPart) }
}

function toPart(part: EmbedPart): object {
  if (part.kind === 'text') return { text: part.text }
  const uri = parseDataUri(part.image.url)
  return { inlineData: { mimeType: uri?.mediaType, data: uri?.payload } }
}

/** Newer models report their usage, although the vendor's types do not declare it. */
const embedUsage = z
  .looseObject({ promptTokenCount: z.unknown().optional() })
  .nullish()
  .catch(undefined)

const batchAnswer = z.looseObject({
  embeddings: z.array(z.looseObject({ values: vectorValue })),
  usageMetadata: embedUsage,
})

const contentAnswer = z.looseObject({
  embedding: z.looseObject({ values: vectorValue }),
  usageMetadata: embedUsage,
})
