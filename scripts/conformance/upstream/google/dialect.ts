import { bracketedPath, type Dialect, parseBody, upstreamKey } from '../dialect.ts'
import { check, Refusal } from '../refusal.ts'
import { answer, countTokens, readScenario, sampleVector } from '../scenario.ts'
import { streamReply, wholeReply } from './answer.ts'
import { readConversation } from './conversation.ts'
import { toCamelNames } from './names.ts'
import { type Content, embedBatchSchema, requestSchema } from './request.ts'
import { checkRequest } from './rules.ts'
import { checkSignatures, hasPlaceholder } from './signatures.ts'

/** The Gemini API, generation 3: https://ai.google.dev/api/generate-content */
export const google: Dialect = {
  handle({ path, query, headers, body: sent }) {
    const [, model = '', method] =
      /^\/v1beta\/models\/([^:/]+):(generateContent|streamGenerateContent|countTokens|batchEmbedContents)$/.exec(
        path,
      ) ?? []
    if (!method) throw new Refusal(404, `unknown path ${path}`)
    if (headers.get('x-goog-api-key') !== upstreamKey)
      throw new Refusal(401, 'API key not valid. Please pass a valid API key.')
    const body = toCamelNames(sent)
    if (method === 'countTokens') {
      const { contents } = parseBody(requestSchema, body, bracketedPath)
      const totalTokens = countTokens(JSON.stringify(contents))
      return { kind: 'whole', model, body: { totalTokens } }
    }
    if (method === 'batchEmbedContents') {
      const { requests } = parseBody(embedBatchSchema, body, bracketedPath)
      const isNamed = requests.every((one) => one.model === `models/${model}`)
      check(isNamed, 'the model of a request must match that of the address')
      const embeddings = requests.map((_, index) => ({ values: sampleVector(index) }))
      return { kind: 'whole', model, body: { embeddings } }
    }
    const isStream = method === 'streamGenerateContent'
    check(!isStream || query.get('alt') === 'sse', 'only alt=sse is played')
    const sentRequest = parseBody(requestSchema, body, bracketedPath)
    const request = { ...sentRequest, contents: joinNeighbours(sentRequest.contents) }
    const scenario = readScenario(model)
    checkRequest(request)
    checkSignatures(request.contents)
    const given = answer(scenario, readConversation(request))
    const { includeThoughts = false } = request.generationConfig?.thinkingConfig ?? {}
    const parts = given.parts.filter(({ kind }) => kind !== 'reasoning' || includeThoughts)
    const toReply = isStream ? streamReply : wholeReply
    const reply = toReply(model, { ...given, parts })
    return hasPlaceholder(request.contents) ? { ...reply, lacksProof: true } : reply
  },

  refuse({ status, message, retryAfter }) {
    const retryDelay = `${retryAfter}s`
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }]
    return {
      status,
      ...(retryAfter !== undefined && { headers: { 'retry-after': String(retryAfter) } }),
      body: {
        error: {
          code: status,
          message,
          status: statusNames[status] ?? 'INTERNAL',
          ...(retryAfter !== undefined && { details }),
        },
      },
    }
  },
}

/** Chats of Google's SDKs repeat each chunk of a stream as a content of its own. */
function joinNeighbours(contents: readonly Content[]): Content[] {
  const joined: Content[] = []
  for (const content of contents) {
    const last = joined.at(-1)
    if (last?.role !== 'model' || content.role !== 'model') joined.push(content)
    else joined.splice(-1, 1, { ...last, parts: [...last.parts, ...content.parts] })
  }
  return joined
}

const statusNames: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
}
