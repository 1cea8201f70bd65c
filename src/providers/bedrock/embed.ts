import * as z from 'zod'
import {
  type EmbedCall,
  listItemImages,
  type MixedItem,
  toEmbedParts,
  vectorValue,
} from '../../core/embeddings.ts'
import type { EmbedEndpoint, EmbedResult, HeaderReader } from '../../core/endpoints.ts'
import { invalid } from '../../core/errors.ts'
import type { DialectTarget } from '../../core/provider-kind.ts'
import { parseDataUri } from '../../wire/data-uri.ts'
import { parseCountHeader, toEmbedFailure, toEmbedResult } from '../base/embed-answer.ts'
import { getSingleItem, listTexts } from '../base/embed-input.ts'
import { type InputTypeWords, toVendorInputType } from '../base/embed-input-type.ts'
import { encodeJsonBody } from '../base/request.ts'
import {
  checkInputType,
  cohereEmbeddingsSchema,
  configuredInputTypes,
  maxCohereItems,
  readCohereInputType,
  selectCohereVectors,
} from '../cohere/embed.ts'
import { maskCredential, readAwsSecret } from './auth/credential.ts'
import { parseBedrockError } from './errors.ts'
import { buildBedrockUrl } from './url.ts'

/** Embeddings through InvokeModel, which takes each model vendor's own body. */
export function bedrockEmbed(target: DialectTarget): EmbedEndpoint {
  const { baseUrl, upstreamId, modelId, env, secret } = target
  const credential = readAwsSecret(secret ?? '', env)
  const location = { baseUrl, modelId: upstreamId, credentialRegion: credential.region, env }
  const url = buildBedrockUrl(location, 'invoke')
  // The ARN of an inference profile does not name its model; the client-facing id may.
  const family = findFamily(`${upstreamId} ${modelId}`.toLowerCase())
  return {
    getLimits: () => ({ items: family.maxItems }),
    supportsTokenIds: false,
    supportsImages: family.hasImages,
    supportsDimensions: family.hasDimensions,
    ...(family.takesInputType && { takesInputType: family.takesInputType }),
    ...(family.check && { check: family.check }),
    buildRequest: (batch) => ({
      url,
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: encodeJsonBody(family.toBody(batch)),
    }),
    parseAnswer: family.parseAnswer,
    parseError: (status, body, header) =>
      parseBedrockError(status, maskCredential(body, credential), header),
  }
}

interface Family {
  /** Inputs per upstream request. */
  readonly maxItems: number
  readonly hasImages: boolean
  readonly hasDimensions: boolean
  readonly takesInputType?: NonNullable<EmbedEndpoint['takesInputType']>
  readonly check?: (call: EmbedCall) => void
  readonly toBody: (batch: EmbedCall) => object
  readonly parseAnswer: (body: unknown, header: HeaderReader) => EmbedResult
}

function findFamily(model: string): Family {
  if (isCohere(model)) return model.includes('embed-v4') ? cohereV4 : cohereV3
  if (model.includes('titan-embed-image')) return titanImage
  if (model.includes('titan-embed-text-v1') || model.includes('titan-embed-g1')) return titanV1
  return model.includes('nova') ? nova : titanV2
}

const titanV1: Family = {
  maxItems: 1,
  hasImages: false,
  hasDimensions: false,
  toBody: ({ input }) => ({ inputText: listTexts(input)[0] }),
  parseAnswer: parseTitanAnswer,
}

const titanV2: Family = {
  ...titanV1,
  hasDimensions: true,
  toBody: ({ input, dimensions }) => ({ inputText: listTexts(input)[0], dimensions }),
}

const titanImage: Family = {
  ...titanV2,
  hasImages: true,
  check({ input }) {
    if (input.shape !== 'parts' || input.items.every((item) => listItemImages(item).length <= 1))
      return
    throw invalid('input: this model takes one image per item', 'input')
  },
  toBody: (batch) => ({
    ...toTitanBody(getSingleItem(batch.input)),
    ...(batch.dimensions !== undefined && {
      embeddingConfig: { outputEmbeddingLength: batch.dimensions },
    }),
  }),
}

/** The model makes one vector of a text, an image, or both. */
function toTitanBody(item: MixedItem): object {
  const parts = toEmbedParts(item)
  const texts = parts.flatMap((part) => (part.kind === 'text' ? part.text : []))
  const [image] = listItemImages(item)
  return {
    ...(texts.length > 0 && { inputText: texts.join(' ') }),
    ...(image && { inputImage: parseDataUri(image.url)?.payload }),
  }
}

const titanAnswer = z.looseObject({
  embedding: vectorValue,
  inputTextTokenCount: z.unknown().optional(),
})

function parseTitanAnswer(body: unknown): EmbedResult {
  const parsed = titanAnswer.safeParse(body)
  if (!parsed.success) return toEmbedFailure(body)
  return toEmbedResult([parsed.data.embedding], parsed.data.inputTextTokenCount)
}

function isCohere(model: string): boolean {
  return model.includes('cohere.embed')
}

/** Lists the values of a model's `input_type`; undefined where any text is accepted. */
export function listInputTypes(upstreamId: string): readonly string[] | undefined {
  return isCohere(upstreamId) ? configuredInputTypes : undefined
}

const cohereV3: Family = {
  maxItems: maxCohereItems,
  hasImages: false,
  hasDimensions: false,
  takesInputType: 'always',
  check: checkInputType,
  toBody: (batch) => ({ texts: listTexts(batch.input), input_type: readCohereInputType(batch) }),
  parseAnswer(body, header) {
    const parsed = z.looseObject({ embeddings: cohereEmbeddingsSchema }).safeParse(body)
    if (!parsed.success) return toEmbedFailure(body)
    return toEmbedResult(selectCohereVectors(parsed.data.embeddings), readTokenCount(header))
  },
}

const cohereV4: Family = {
  ...cohereV3,
  hasDimensions: true,
  toBody: (batch) => ({
    ...cohereV3.toBody(batch),
    embedding_types: ['float'],
    output_dimension: batch.dimensions,
  }),
}

const nova: Family = {
  maxItems: 1,
  hasImages: false,
  hasDimensions: true,
  takesInputType: 'when-mapped',
  toBody: ({ input, dimensions, inputType }) => ({
    taskType: 'SINGLE_EMBEDDING',
    singleEmbeddingParams: {
      embeddingPurpose: toVendorInputType({ inputType }, purposes) ?? 'GENERIC_INDEX',
      embeddingDimension: dimensions,
      text: { truncationMode: 'END', value: listTexts(input)[0] },
    },
  }),
  parseAnswer(body, header) {
    const parsed = novaAnswer.safeParse(body)
    if (!parsed.success) return toEmbedFailure(body)
    const { embeddings, inputTokenCount } = parsed.data
    const vectors = embeddings.map(({ embedding }) => embedding)
    return toEmbedResult(vectors, inputTokenCount ?? readTokenCount(header))
  },
}

/** https://docs.aws.amazon.com/nova/latest/userguide/embeddings-schema.html */
const purposes: InputTypeWords = Object.freeze({
  search_document: 'GENERIC_INDEX',
  search_query: 'GENERIC_RETRIEVAL',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
})

const novaAnswer = z.looseObject({
  embeddings: z.array(z.looseObject({ embedding: vectorValue })),
  inputTokenCount: z.unknown().optional(),
})

function readTokenCount(header: HeaderReader): number | undefined {
  return parseCountHeader(header('x-amzn-bedrock-input-token-count'))
}
