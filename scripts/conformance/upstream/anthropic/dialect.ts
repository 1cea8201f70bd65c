import { randomUUID } from 'node:crypto'
import { type Dialect, dottedPath, parseBody, type Reply, upstreamKey } from '../dialect.ts'
import { check, Refusal } from '../refusal.ts'
import { answer, countTokens, readScenario } from '../scenario.ts'
import { toMessage, toReply } from './answer.ts'
import { readConversation } from './conversation.ts'
import { countSchema, requestSchema } from './request.ts'
import { checkRequest, lacksThinking } from './rules.ts'
import { continueThread, keepThread } from './threads.ts'

/** Anthropic's Messages API: https://platform.claude.com/docs/en/api/messages */
export const anthropic: Dialect = {
  handle({ path, headers, body }) {
    const key = headers.get('x-api-key') ?? headers.get('authorization')?.replace(/^Bearer /, '')
    if (key !== upstreamKey) throw new Refusal(401, 'invalid x-api-key')
    check(headers.has('anthropic-version'), 'anthropic-version: header is required')
    if (path === '/v1/messages/count_tokens') return countReply(body)
    if (path !== '/v1/messages') throw new Refusal(404, `unknown path ${path}`)
    const request = continueThread(parseBody(requestSchema, body, dottedPath))
    const scenario = readScenario(request.model)
    checkRequest(request)
    const message = toMessage(request, answer(scenario, readConversation(request)))
    keepThread(request, message)
    const reply = toReply(request, message)
    return lacksThinking(request.messages) ? { ...reply, lacksProof: true } : reply
  },

  refuse({ status, message, retryAfter, details }) {
    // https://platform.claude.com/docs/en/api/errors
    const code = status === 503 ? 529 : status
    const requestId = `req_${randomUUID()}`
    return {
      status: code,
      headers: {
        'request-id': requestId,
        ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
      },
      body: {
        type: 'error',
        error: { type: errorTypes[code] ?? 'api_error', message, ...(details && { details }) },
        request_id: requestId,
      },
    }
  },
}

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

function countReply(body: unknown): Reply {
  const { model } = parseBody(countSchema, body, dottedPath)
  readScenario(model)
  return { kind: 'whole', model, body: { input_tokens: countTokens(JSON.stringify(body)) } }
}
