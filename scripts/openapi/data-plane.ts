import { sumParameters } from './admin.ts'
import type { answerSchemas } from './answers/index.ts'
import type { Body, Operation, Operations } from './operation.ts'

const errors = [400, 401, 402, 403, 404, 408, 413, 415, 417, 429, 431, 500, 502, 503, 504]

const ownKeyErrors = [400, 401, 404, 408, 415, 417, 429, 431, 500, 503]

const timeout = {
  name: 'x-gateway-timeout-ms',
  in: 'header',
  description: 'Shortens the total timeout of the request.',
  schema: { type: 'integer', minimum: 1 },
} as const

const session = {
  name: 'x-gateway-session',
  in: 'header',
  description: 'Names the session of the request, which stays where it was served.',
  schema: { type: 'string' },
} as const

interface Asking {
  readonly summary: string
  readonly body: Body
  readonly answer: keyof typeof answerSchemas
  readonly streams: boolean
  readonly errorSchema?: keyof typeof answerSchemas
}

/** Creates the operation of a route that asks a model. */
function ask({ summary, body, answer, streams, errorSchema }: Asking): Operation {
  return {
    summary,
    tag: 'Models',
    key: 'client',
    parameters: [timeout, session],
    body,
    answers: {
      200: {
        description: streams ? 'The answer, whole or as a stream.' : 'The answer.',
        schema: answer,
        ...(streams && { otherTypes: ['text/event-stream'] }),
      },
    },
    errors,
    ...(errorSchema && { errorSchema }),
  }
}

const turns = [{ role: 'user', content: 'Hello!' }]

const chat = ask({
  summary: 'Complete a chat, as in the API of OpenAI',
  body: { schema: 'ChatRequest', example: { model: 'demo', messages: turns } },
  answer: 'Completion',
  streams: true,
})

const completion = ask({
  summary: 'Complete a text, as in the older API of OpenAI',
  body: { schema: 'CompletionRequest', example: { model: 'demo', prompt: 'Once' } },
  answer: 'Completion',
  streams: true,
})

const embeddings = ask({
  summary: 'Embed texts, token ids or images',
  body: { schema: 'EmbeddingsRequest', example: { model: 'demo-retrieval', input: 'Hello!' } },
  answer: 'Embeddings',
  streams: false,
})

const rerank = ask({
  summary: 'Rank documents by their relevance to a query',
  body: {
    schema: 'RerankRequest',
    example: { model: 'demo-retrieval', query: 'red', documents: ['a red car', 'a tree'] },
  },
  answer: 'Ranking',
  streams: false,
})

const question = { type: 'predicate', instructions: 'It is a greeting.' }

const decisions = ask({
  summary: 'Answer typed questions about an input, as in the API of OpenAI or of TypeSafe',
  body: {
    schema: 'DecisionsRequest',
    example: { model: 'demo-decisions', input: 'Hello!', questions: [question] },
  },
  answer: 'Decisions',
  streams: false,
})

const systemOne = ask({
  summary: 'Answer typed questions about a state, as in the API of TypeSafe',
  body: {
    schema: 'SystemOneRequest',
    example: {
      model: 'demo-system-one',
      state: 'Hello!',
      questions: { greeting: { type: 'noul', instructions: 'Is it a greeting?' } },
    },
  },
  answer: 'SystemOne',
  streams: false,
})

const parts = [{ role: 'user', parts: [{ text: 'Hello!' }] }]

/** Creates the operation of a method of the API of Gemini. */
function askGemini(asking: Pick<Asking, 'summary' | 'answer' | 'streams'>): Operation {
  return ask({
    ...asking,
    body: { schema: 'GeminiRequest', example: { contents: parts } },
    errorSchema: 'GeminiError',
  })
}

const read = (operation: Pick<Operation, 'summary' | 'answers'>): Operation => ({
  tag: 'Operation',
  key: 'none',
  errors: [400, 408, 415, 417, 431, 500],
  ...operation,
})

const anthropicVersion = {
  name: 'anthropic-version',
  in: 'header',
  description: 'With this header the answer has the form of the API of Anthropic.',
  schema: { type: 'string' },
} as const

/** The routes that do not depend on auth, except for the key. */
export const dataPlane: Operations = {
  '/': {
    get: read({
      summary: 'Show the version and the routes',
      answers: {
        200: { description: 'JSON, or a page.', schema: 'Front', otherTypes: ['text/html'] },
      },
    }),
  },
  '/v1/chat/completions': { post: chat },
  '/openai/deployments/{model}/chat/completions': { post: chat },
  '/v1/messages': {
    post: ask({
      summary: 'Create a message, as in the API of Anthropic',
      body: {
        schema: 'MessagesRequest',
        example: { model: 'demo', max_tokens: 64, messages: turns },
      },
      answer: 'Message',
      streams: true,
      errorSchema: 'MessagesError',
    }),
  },
  '/v1/messages/count_tokens': {
    post: ask({
      summary: 'Count the tokens of a message request',
      body: { schema: 'CountTokensRequest', example: { model: 'demo', messages: turns } },
      answer: 'TokenCount',
      streams: false,
      errorSchema: 'MessagesError',
    }),
  },
  '/v1beta/models/{id}:generateContent': {
    post: askGemini({
      summary: 'Generate content, as in the API of Gemini',
      answer: 'GeminiAnswer',
      streams: false,
    }),
  },
  '/v1beta/models/{id}:streamGenerateContent': {
    post: askGemini({
      summary: 'Generate content as a stream: of events with alt=sse, otherwise as a JSON array',
      answer: 'GeminiChunks',
      streams: true,
    }),
  },
  '/v1beta/models/{id}:countTokens': {
    post: askGemini({
      summary: 'Count the tokens of a request to generate content',
      answer: 'GeminiTokenCount',
      streams: false,
    }),
  },
  '/v1beta/models/{id}:embedContent': {
    post: ask({
      summary: 'Embed one content, as in the API of Gemini',
      body: {
        schema: 'GeminiEmbedRequest',
        example: { content: { parts: [{ text: 'Hello!' }] } },
      },
      answer: 'GeminiEmbedding',
      streams: false,
      errorSchema: 'GeminiError',
    }),
  },
  '/v1beta/models/{id}:batchEmbedContents': {
    post: ask({
      summary: 'Embed contents, as in the API of Gemini',
      body: {
        schema: 'GeminiEmbedBatch',
        example: { requests: [{ content: { parts: [{ text: 'Hello!' }] } }] },
      },
      answer: 'GeminiEmbeddings',
      streams: false,
      errorSchema: 'GeminiError',
    }),
  },
  '/v1beta/models': {
    get: {
      summary: 'List the models that the key may use, as in the API of Gemini',
      tag: 'Models',
      key: 'client',
      answers: { 200: { description: 'The models.', schema: 'GeminiModelList' } },
      errorSchema: 'GeminiError',
      errors: [400, 401, 408, 415, 417, 431, 500],
    },
  },
  '/v1beta/models/{id}': {
    get: {
      summary: 'Show a model or a route, as in the API of Gemini',
      tag: 'Models',
      key: 'client',
      answers: { 200: { description: 'The model.', schema: 'GeminiModel' } },
      errorSchema: 'GeminiError',
      errors: [400, 401, 403, 404, 408, 415, 417, 431, 500],
    },
  },
  '/v1/responses': {
    post: ask({
      summary: 'Create a response, as in the Responses API of OpenAI',
      body: { schema: 'ResponsesRequest', example: { model: 'demo', input: 'Hello!' } },
      answer: 'Response',
      streams: true,
      errorSchema: 'ResponsesError',
    }),
  },
  '/v1/completions': { post: completion },
  '/openai/deployments/{model}/completions': { post: completion },
  '/v1/embeddings': { post: embeddings },
  '/openai/deployments/{model}/embeddings': { post: embeddings },
  '/v1/rerank': { post: rerank },
  '/v2/rerank': { post: rerank },
  '/v1/v2/rerank': { post: rerank },
  '/rerank': { post: rerank },
  '/v1/decisions': { post: decisions },
  '/v1/systemone': { post: systemOne },
  '/v1/models': {
    get: {
      summary: 'List the models that the key may use',
      tag: 'Models',
      key: 'client',
      parameters: [anthropicVersion],
      answers: { 200: { description: 'The models.', schema: 'ModelList' } },
      errorSchema: 'ModelsError',
      errors: [400, 401, 408, 415, 417, 431, 500],
    },
  },
  '/v1/models/{id}': {
    get: {
      summary: 'Show a model or a route',
      description: 'A slash in the id may be encoded or not.',
      tag: 'Models',
      key: 'client',
      parameters: [anthropicVersion],
      answers: { 200: { description: 'The model.', schema: 'Model' } },
      errorSchema: 'ModelsError',
      errors: [400, 401, 403, 404, 408, 415, 417, 431, 500],
    },
  },
  '/v1/key': {
    get: {
      summary: 'Show the key that asks: its models, its budget, and what is left of its limits',
      description: 'Exists with auth on.',
      tag: 'Keys',
      key: 'client',
      answers: { 200: { description: 'The key.', schema: 'OwnKey' } },
      errors: ownKeyErrors,
    },
  },
  '/v1/key/usage': {
    get: {
      summary: 'Show the sums of the usage log for the key that asks',
      description: 'Exists with auth on.',
      tag: 'Usage',
      key: 'client',
      parameters: sumParameters,
      answers: { 200: { description: 'The sums.', schema: 'UsageSums' } },
      errors: ownKeyErrors,
    },
  },
  '/health': {
    get: read({
      summary: 'Show that the process runs',
      answers: { 200: { description: 'It runs.', schema: 'Health' } },
    }),
  },
  '/health/ready': {
    get: read({
      summary: 'Show whether the gateway takes requests',
      answers: {
        200: { description: 'It does.', schema: 'Readiness' },
        503: { description: 'It is starting or draining.', schema: 'Readiness' },
      },
    }),
  },
  '/health/providers': {
    get: read({
      summary: 'Show the results of the health probes',
      answers: { 200: { description: 'The results by provider.', schema: 'ProviderHealth' } },
    }),
  },
  '/metrics': {
    get: read({
      summary: 'Show the metrics',
      answers: { 200: { description: 'Prometheus text.', otherTypes: ['text/plain'] } },
    }),
  },
}
