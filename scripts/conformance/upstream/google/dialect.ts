import { bracketedPath, type Dialect, parseBody, upstreamKey } from '../dialect.ts'
import { check, Refusal } from '../refusal.ts'
import { answer, countTokens, readScenario } from '../scenario.ts'
import { streamReply, wholeReply } from './answer.ts'
import { readConversation } from './conversation.ts'
import { toCamelNames } from './names.ts'
import { requestSchema } from './request.ts'
import { checkRequest } from './rules.ts'
import { checkSignatures, hasPlaceholder } from './signatures.ts'

/** The Gemini API, generation 3: https://ai.google.dev/api/generate-content */
export const google: Dialect = {
  handle({ path, query, headers, body: sent }) {
    const [, model = '', method] =
      /^\/v1beta\/models\/([^:/]+):(generateContent|streamGenerateContent|countTokens)$/.exec(
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
    const isStream = method === 'streamGenerateContent'
    check(!isStream || query.get('alt') === 'sse', 'only alt=sse is played')
    const request = parseBody(requestSchema, body, bracketedPath)
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

const statusNames: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
}
