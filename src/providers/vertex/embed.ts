import * as z from 'zod'
import {
  type EmbedCall,
  getItemText,
  listItemImages,
  type MixedItem,
  vectorValue,
} from '../../core/embeddings.ts'
import type { BatchLimits, EmbedEndpoint, EmbedResult } from '../../core/endpoints.ts'
import type { DialectTarget } from '../../core/provider-kind.ts'
import { parseDataUri } from '../../wire/data-uri.ts'
import { toEmbedFailure, toEmbedResult } from '../base/embed-answer.ts'
import { getSingleItem, listTexts } from '../base/embed-input.ts'
import { toVendorInputType } from '../base/embed-input-type.ts'
import { checkSingleModality } from '../base/embed-modality.ts'
import { encodeJsonBody } from '../base/request.ts'
import { canEmbedImages, parseContentAnswer, taskTypes, toContent } from '../google/embed.ts'
import { parseError } from '../google/errors.ts'
import { methodUrl } from '../google/url.ts'
import { noCredential } from './auth/secret.ts'
import { vertexModelUrl } from './url.ts'

/**
 * Embeddings on Vertex AI. Each of the three model families has its own request and answer.
 * https://cloud.google.com/vertex-ai/generative-ai/docs/embeddings/get-text-embeddings
 */
export function vertexEmbed(target: DialectTarget): EmbedEndpoint {
  const modelUrl = vertexModelUrl(target)
  const family = findFamily(target.upstreamId.toLowerCase())
  return {
    getLimits: () => family.limits,
    supportsTokenIds: false,
    supportsImages: family.takesImages,
    supportsReference: (url) => family.takesCloudStorage === true && isCloudStorage(url),
    supportsDimensions: true,
    ...(family.takesTaskType && { takesInputType: 'when-mapped' }),
    ...(family.check && { check: family.check }),
    buildRequest(batch) {
      // Without a project or location, only the requests to this provider fail.
      if (!(modelUrl instanceof URL)) throw noCredential(modelUrl.problem)
      const url = methodUrl(modelUrl, family.method).href
      return { url, headers: {}, body: encodeJsonBody(family.body(batch)) }
    },
    parseAnswer: family.answer,
    parseError,
  }
}

interface EmbedFamily {
  readonly method: 'predict' | 'embedContent'
  readonly limits: BatchLimits
  readonly takesImages: boolean
  readonly takesTaskType: boolean
  /** Images may be `gs://` references to Cloud Storage. */
  readonly takesCloudStorage?: boolean
  readonly check?: (call: EmbedCall) => void
  readonly body: (batch: EmbedCall) => object
  readonly answer: (body: unknown) => EmbedResult
}

function findFamily(model: string): EmbedFamily {
  if (model.includes('multimodalembedding')) return multimodalFamily
  // The first Gemini model accepts one instance per call.
  if (model.includes('gemini-embedding-001')) return { ...textFamily, limits: { items: 1 } }
  if (!/gemini|maas/.test(model)) return textFamily
  return { ...contentFamily, takesImages: canEmbedImages(model) }
}

const textFamily: EmbedFamily = {
  method: 'predict',
  // The vendor's limit is 20,000 tokens per call. The margin covers the error of our estimate.
  limits: { items: 250, tokens: 15_000 },
  takesImages: false,
  takesTaskType: true,
  body: ({ input, dimensions, inputType }) => ({
    instances: listTexts(input).map((item) => ({
      content: item,
      // Unlike its siblings in snake case.
      task_type: toVendorInputType({ inputType }, taskTypes),
    })),
    ...(dimensions !== undefined && { parameters: { outputDimensionality: dimensions } }),
  }),
  answer(body) {
    const parsed = textAnswer.safeParse(body)
    if (!parsed.success) return toEmbedFailure(body)
    const answers = parsed.data.predictions.map(({ embeddings }) => embeddings)
    const counts = answers.map(({ statistics }) => statistics?.token_count)
    const tokens = counts.every((count) => typeof count === 'number')
      ? Math.round(counts.reduce((sum, count) => sum + count, 0))
      : undefined
    return toEmbedResult(
      answers.map(({ values }) => values),
      tokens,
    )
  },
}

const textAnswer = z.looseObject({
  predictions: z.array(
    z.looseObject({
      embeddings: z.looseObject({
        values: vectorValue,
        // Unlike its siblings in snake case, and sometimes a float.
        statistics: z.looseObject({ token_count: z.unknown().optional() }).nullish(),
      }),
    }),
  ),
})

const contentFamily: EmbedFamily = {
  method: 'embedContent',
  limits: { items: 1 },
  takesImages: true,
  takesTaskType: true,
  body: (batch) => ({
    content: toContent(getSingleItem(batch.input)),
    embedContentConfig: toContentConfig(batch),
  }),
  answer: parseContentAnswer,
}

function toContentConfig(batch: EmbedCall): object | undefined {
  const taskType = toVendorInputType(batch, taskTypes)
  const { dimensions: outputDimensionality } = batch
  return taskType === undefined && outputDimensionality === undefined
    ? undefined
    : { outputDimensionality, taskType }
}

const multimodalFamily: EmbedFamily = {
  method: 'predict',
  limits: { items: 1 },
  takesImages: true,
  takesTaskType: false,
  takesCloudStorage: true,
  // The model returns one vector for each modality, not one for an item with both.
  check: checkSingleModality,
  body: (batch) => ({
    instances: [toInstance(getSingleItem(batch.input))],
    ...(batch.dimensions !== undefined && { parameters: { dimension: batch.dimensions } }),
  }),
  answer(body) {
    const parsed = multimodalAnswer.safeParse(body)
    if (!parsed.success) return toEmbedFailure(body)
    const vectors = parsed.data.predictions
      .map(({ textEmbedding, imageEmbedding }) => textEmbedding ?? imageEmbedding)
      .filter((vector) => vector !== undefined && vector !== null)
    return toEmbedResult(vectors, undefined)
  },
}

const multimodalAnswer = z.looseObject({
  predictions: z.array(
    z.looseObject({ textEmbedding: vectorValue.nullish(), imageEmbedding: vectorValue.nullish() }),
  ),
})

function toInstance(item: MixedItem): object {
  const [image] = listItemImages(item)
  if (!image) return { text: getItemText(item) }
  if (isCloudStorage(image.url)) return { image: { gcsUri: image.url } }
  const uri = parseDataUri(image.url)
  return { image: { bytesBase64Encoded: uri?.payload, mimeType: uri?.mediaType } }
}

function isCloudStorage(url: string): boolean {
  return url.startsWith('gs://')
}
