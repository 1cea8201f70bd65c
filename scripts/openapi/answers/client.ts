import * as z from 'zod'
import { capabilities, modalities } from '../../../src/core/capability.ts'
import { code, count, requestId, text, time } from './values.ts'

const error = z.strictObject({
  error: z.looseObject({
    code,
    type: z.enum(['invalid_request', 'upstream_error', 'internal', 'client_cancelled']),
    message: text,
    param: text.nullable().describe('The field at fault, as a dotted path.'),
    request_id: requestId,
    retry_after: count.optional().describe('Seconds to wait.'),
  }),
})

const responsesError = z.strictObject({
  error: z.looseObject({
    code: text.describe('A code of OpenAI where clients act on it, otherwise that of the gateway.'),
    gateway_code: code,
    message: text,
    request_id: requestId,
  }),
})

const messagesError = z.strictObject({
  type: z.literal('error'),
  error: z.looseObject({ type: text, message: text, code, param: text.nullable() }),
  request_id: requestId,
})

const geminiError = z.strictObject({
  error: z.looseObject({
    code: count.describe('The status.'),
    message: text,
    status: text.describe('The word of google.rpc.Code.'),
    details: z.array(z.looseObject({ '@type': text })),
  }),
})

const usage = z.looseObject({
  prompt_tokens: count.optional(),
  total_tokens: count.optional(),
  estimated: z.boolean().optional().describe('Whether the gateway counted.'),
})

const choices = z.array(z.looseObject({ index: count }))
const completion = z.looseObject({ object: text, model: text, choices, usage: usage.optional() })

const message = z.looseObject({
  type: z.literal('message'),
  role: z.literal('assistant'),
  content: z.array(z.looseObject({ type: text })),
  model: text,
  usage: z.looseObject({ input_tokens: count, output_tokens: count }),
})

const response = z.looseObject({
  object: z.literal('response'),
  id: text,
  status: text,
  model: text,
  output: z.array(z.looseObject({ type: text })),
})

const embeddings = z.looseObject({
  object: z.literal('list'),
  model: text,
  data: z.array(
    z.looseObject({ index: count, embedding: z.union([z.array(z.number()), z.string()]) }),
  ),
  usage,
})

const rerank = z.looseObject({
  model: text,
  results: z.array(z.looseObject({ index: count, relevance_score: z.number() })),
  usage: z.looseObject({}),
})

const openAiDecisions = z.looseObject({ answers: z.array(z.looseObject({ type: text })).min(1) })
const systemOne = z.looseObject({ answers: z.record(text, z.looseObject({ type: text })) })

const model = z.strictObject({
  id: text,
  object: z.literal('model'),
  created: time,
  owned_by: text.describe('The provider of a model; "gateway" for a route.'),
  capabilities: z.array(z.enum(capabilities)),
  modalities: z.array(z.enum(modalities)),
})

const geminiAnswer = z.looseObject({
  candidates: z.array(z.looseObject({ index: count.optional() })).optional(),
  usageMetadata: z.looseObject({ totalTokenCount: count.optional() }).optional(),
  modelVersion: text.optional(),
})

const geminiVector = z.looseObject({ values: z.array(z.number()) })

const geminiEmbedCounts = z
  .looseObject({ promptTokenCount: count.optional(), estimated: z.boolean().optional() })
  .optional()

const geminiModel = z.strictObject({
  name: text.describe('`models/` and the id.'),
  displayName: text,
  outputTokenLimit: count.optional(),
  supportedGenerationMethods: z.array(text),
})

const anthropicModel = z.looseObject({ type: z.literal('model'), id: text, display_name: text })

const modelList = z.union([
  z.strictObject({ object: z.literal('list'), data: z.array(model) }),
  z
    .looseObject({ data: z.array(anthropicModel), has_more: z.boolean() })
    .describe('With a header `anthropic-version`.'),
  z
    .strictObject({ models: z.array(geminiModel), nextPageToken: text.optional() })
    .describe('With a header `x-goog-api-key` or `x-goog-api-client`.'),
])

/** The answers to clients. Those of vendors may have more fields than these schemas. */
export const clientAnswers = {
  Error: error,
  MessagesError: messagesError,
  ResponsesError: responsesError,
  GeminiError: geminiError,
  // The headers decide.
  ModelsError: z.union([error, messagesError, geminiError]),
  Completion: completion,
  Message: message,
  TokenCount: z.looseObject({ input_tokens: count, estimated: z.boolean().optional() }),
  Response: response,
  GeminiAnswer: geminiAnswer,
  GeminiChunks: z.array(geminiAnswer),
  GeminiTokenCount: z.looseObject({ totalTokens: count, estimated: z.boolean().optional() }),
  GeminiEmbedding: z.looseObject({ embedding: geminiVector, usageMetadata: geminiEmbedCounts }),
  GeminiEmbeddings: z.looseObject({
    embeddings: z.array(geminiVector),
    usageMetadata: geminiEmbedCounts,
  }),
  GeminiModel: geminiModel,
  GeminiModelList: z.strictObject({
    models: z.array(geminiModel),
    nextPageToken: text.optional(),
  }),
  Embeddings: embeddings,
  Ranking: rerank,
  Decisions: z.union([openAiDecisions, systemOne]),
  SystemOne: systemOne,
  Model: z.union([model, anthropicModel, geminiModel]),
  ModelList: modelList,
}
