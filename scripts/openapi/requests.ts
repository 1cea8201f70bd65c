import * as z from 'zod'
import { grantBody } from '../../src/admin/accounts.ts'
import { explainBody } from '../../src/admin/explain.ts'
import { groupChangeBody, newGroupBody } from '../../src/admin/groups.ts'
import { keyChangeBody, newKeyBody, rotationBody } from '../../src/admin/keys.ts'
import { providerCheckBody } from '../../src/admin/provider-check.ts'
import { providerKeyBody } from '../../src/admin/provider-keys.ts'
import { repriceBody } from '../../src/admin/usage-reprice.ts'
import { signingKeyBody } from '../../src/admin/webhooks.ts'
import { webhookSettings } from '../../src/config/index.ts'

/*
 * The bodies of requests. Those of the admin API are the gateway's own schemas. The others belong to the
 * vendors' APIs: these schemas have what the gateway reads, and every other field may be present.
 */

const model = z.string().min(1).describe('The id of a model or a route of the configuration.')
const stream = z.boolean().nullish().describe('Whether to answer with server-sent events.')
const bound = z.int().positive().nullish()

const message = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).nullish(),
})

const streamOptions = z.looseObject({ include_usage: z.boolean().nullish() }).nullish()

const chat = z.looseObject({
  model,
  messages: z.array(message).min(1),
  stream,
  stream_options: streamOptions,
  max_tokens: bound,
  max_completion_tokens: bound,
  max_output_tokens: bound,
  n: bound,
  tools: z.array(z.looseObject({})).nullish(),
})

const completion = z.looseObject({
  model,
  prompt: z
    .union([z.string(), z.array(z.string()), z.array(z.int()), z.array(z.array(z.int()))])
    .nullish()
    .describe('A text, token ids, or a list of either.'),
  suffix: z.string().nullish(),
  stream,
  stream_options: streamOptions,
  max_tokens: z.int().nonnegative().nullish(),
  n: bound,
  best_of: bound,
})

const blocks = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))])

const count = z.looseObject({
  model,
  messages: z.array(z.looseObject({ role: z.string(), content: blocks })).min(1),
  system: blocks.nullish(),
  tools: z.array(z.looseObject({})).nullish(),
})

const messages = count.extend({ max_tokens: z.int().positive(), stream })

const responses = z.looseObject({
  model,
  input: z.union([z.string(), z.array(z.looseObject({}))]).optional(),
  instructions: z.string().nullish(),
  stream,
  max_output_tokens: bound,
  tools: z.array(z.looseObject({ type: z.string() })).nullish(),
})

const parts = z.looseObject({ role: z.string().nullish(), parts: z.array(z.looseObject({})) })

const gemini = z.looseObject({
  contents: z.array(parts).min(1),
  systemInstruction: parts.nullish(),
  tools: z.array(z.looseObject({})).nullish(),
  generationConfig: z.looseObject({}).nullish(),
})

const geminiEmbed = z.looseObject({
  model: z.string().nullish(),
  content: z.looseObject({ parts: z.array(z.looseObject({})) }),
  taskType: z.string().nullish(),
  title: z.string().nullish(),
  outputDimensionality: z.int().nonnegative().nullish(),
})

const embeddings = z.looseObject({
  model,
  input: z
    .union([
      z.string().min(1),
      z.array(z.int().nonnegative()).min(1),
      z.array(z.array(z.int().nonnegative()).min(1)).min(1),
      z.array(z.union([z.string().min(1), z.array(z.looseObject({ type: z.string() }))])).min(1),
    ])
    .describe('A text, token ids, a list of either, or a list of items with text and image parts.'),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: bound,
})

const rerank = z.looseObject({
  model,
  query: z.string().min(1),
  documents: z.array(z.union([z.string(), z.looseObject({})])).min(1),
  top_n: bound,
  return_documents: z.boolean().nullish(),
  rank_fields: z.union([z.string(), z.array(z.string())]).nullish(),
})

const question = z.looseObject({ type: z.string() })
const unstreamed = z.literal(false).nullish()

const openAiDecisions = z.looseObject({
  model,
  input: z.union([z.string(), z.array(z.looseObject({}))]),
  questions: z.array(question).min(1),
  stream: unstreamed,
})

const systemOne = z.looseObject({
  model,
  state: z.union([z.string(), z.looseObject({}), z.array(z.unknown())]),
  questions: z.record(z.string(), question).describe('At least one, by name.'),
  images: z.array(z.unknown()).nullish(),
  assets: z.looseObject({}).nullish(),
  stream: unstreamed,
})

/** The schemas of all request bodies in JSON, by their name in the document. */
export const requestSchemas = {
  ChatRequest: chat,
  CompletionRequest: completion,
  MessagesRequest: messages,
  CountTokensRequest: count,
  ResponsesRequest: responses,
  GeminiRequest: gemini,
  GeminiEmbedRequest: geminiEmbed,
  GeminiEmbedBatch: z.looseObject({ requests: z.array(geminiEmbed).min(1) }),
  EmbeddingsRequest: embeddings,
  RerankRequest: rerank,
  DecisionsRequest: z.union([openAiDecisions, systemOne]),
  SystemOneRequest: systemOne,
  NewKey: newKeyBody,
  KeyChange: keyChangeBody,
  KeyRotation: rotationBody,
  NewGroup: newGroupBody,
  GroupChange: groupChangeBody,
  Grant: grantBody,
  Question: explainBody,
  ProviderCheck: providerCheckBody,
  Repricing: repriceBody,
  ProviderKey: providerKeyBody,
  WebhookSettings: webhookSettings,
  SigningKey: signingKeyBody,
} satisfies Record<string, z.ZodType>
