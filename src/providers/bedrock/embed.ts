import * as z from 'zod'
import {
  type EmbedCall,
  listItemImages,
  type MixedItem,
  toEmbedParts,
  vectorValue,
} from '../../core/embeddings.ts'
import { invalid } from '../../core/errors.ts'
import type {
  DialectTarget,
  EmbedEndpoint,
  EmbedResult,
  HeaderReader,
} from '../../core/provider.ts'
import { parseDataUri } from '../../wire/data-uri.ts'
import {
  checkInputType,
  cohereEmbeddingsSchema,
  maxCohereItems,
  readCohereInputType,
  selectCohereVectors,
} from '../cohere/embed.ts'
import { parseCountHeader, toEmbedFailure, toEmbedResult } from '../shared/embed-answer.ts'
import { getSingleItem, listTexts } from '../shared/embed-input.ts'
import { encodeJsonBody } from '../shared/request.ts'
import { maskCredential, readAwsSecret } from './auth/credential.ts'
import { bedrockRefusal } from './errors.ts'
import { bedrockUrl } from './url.ts'

/** Embeddings on Bedrock: InvokeModel takes whatever the model's own vendor has made of it. */
export function bedrockEmbed(target: DialectTarget): EmbedEndpoint {
  const { baseUrl, upstreamId, modelId, env, secret } = target
  const credential = readAwsSecret(secret ?? '', env)
  const place = { baseUrl, modelId: upstreamId, credentialRegion: credential.region, env }
  const url = bedrockUrl(place, 'invoke')
  // The ARN of an inference profile tells nothing of its model; the client-facing id may.
  const family = familyOf(`${upstreamId} ${modelId}`.toLowerCase())
  return {
    getLimits: () => ({ items: family.items }),
    supportsTokenIds: false,
    supportsImages: family.takesImages,
    supportsDimensions: family.takesDimensions,
    ...(family.check && { check: family.check }),
    buildRequest: (batch) => ({
      url,
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: encodeJsonBody(family.body(batch)),
    }),
    parseAnswer: family.answer,
    parseError: (status, body, header) =>
      bedrockRefusal(status, maskCredential(body, credential), header),
  }
}

interface Family {
  readonly items: number
  readonly takesImages: boolean
  readonly takesDimensions: boolean
  readonly check?: (call: EmbedCall) => void
  readonly body: (batch: EmbedCall) => object
  readonly answer: (body: unknown, header: HeaderReader) => EmbedResult
}

function familyOf(model: string): Family {
  if (model.includes('cohere.embed')) return model.includes('embed-v4') ? cohereV4 : cohereV3
  if (model.includes('titan-embed-image')) return titanImage
  if (model.includes('titan-embed-text-v1') || model.includes('titan-embed-g1')) return titanV1
  return model.includes('nova') ? nova : titanV2
}

const titanV1: Family = {
  items: 1,
  takesImages: false,
  takesDimensions: false,
  body: ({ input }) => ({ inputText: listTexts(input)[0] }),
  answer: readTitan,
}

const titanV2: Family = {
  ...titanV1,
  takesDimensions: true,
  body: ({ input, dimensions }) => ({ inputText: listTexts(input)[0], dimensions }),
}

const titanImage: Family = {
  ...titanV2,
  takesImages: true,
  check({ input }) {
    if (input.shape !== 'parts' || input.items.every((item) => listItemImages(item).length <= 1))
      return
    throw invalid('input: this model takes one image per item', 'input')
  },
  body: (batch) => ({
    ...titanParts(getSingleItem(batch.input)),
    ...(batch.dimensions !== undefined && {
      embeddingConfig: { outputEmbeddingLength: batch.dimensions },
    }),
  }),
}

/** Text, an image, or both in one vector. */
function titanParts(item: MixedItem): object {
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

function readTitan(body: unknown): EmbedResult {
  const parsed = titanAnswer.safeParse(body)
  if (!parsed.success) return toEmbedFailure(body)
  return toEmbedResult([parsed.data.embedding], parsed.data.inputTextTokenCount)
}

const cohereV3: Family = {
  items: maxCohereItems,
  takesImages: false,
  takesDimensions: false,
  check: checkInputType,
  body: (batch) => ({ texts: listTexts(batch.input), input_type: readCohereInputType(batch) }),
  answer(body, header) {
    const parsed = z.looseObject({ embeddings: cohereEmbeddingsSchema }).safeParse(body)
    if (!parsed.success) return toEmbedFailure(body)
    return toEmbedResult(selectCohereVectors(parsed.data.embeddings), countIn(header))
  },
}

const cohereV4: Family = {
  ...cohereV3,
  takesDimensions: true,
  body: (batch) => ({
    ...cohereV3.body(batch),
    embedding_types: ['float'],
    output_dimension: batch.dimensions,
  }),
}

const nova: Family = {
  items: 1,
  takesImages: false,
  takesDimensions: true,
  body: ({ input, dimensions }) => ({
    taskType: 'SINGLE_EMBEDDING',
    singleEmbeddingParams: {
      embeddingPurpose: 'GENERIC_INDEX',
      embeddingDimension: dimensions,
      text: { truncationMode: 'END', value: listTexts(input)[0] },
    },
  }),
  answer(body, header) {
    const parsed = novaAnswer.safeParse(body)
    if (!parsed.success) return toEmbedFailure(body)
    const { embeddings, inputTokenCount } = parsed.data
    const vectors = embeddings.map(({ embedding }) => embedding)
    return toEmbedResult(vectors, inputTokenCount ?? countIn(header))
  },
}

const novaAnswer = z.looseObject({
  embeddings: z.array(z.looseObject({ embedding: vectorValue })),
  inputTokenCount: z.unknown().optional(),
})

function countIn(header: HeaderReader): number | undefined {
  return parseCountHeader(header('x-amzn-bedrock-input-token-count'))
}
