import { z } from 'zod'
import { decideAsOpenAi } from '../decisions/openai.ts'
import { bracketedPath, type Dialect, parseBody, upstreamKey, type WholeReply } from '../dialect.ts'
import { Refusal } from '../refusal.ts'
import { answer, readScenario, sampleVector } from '../scenario.ts'
import { streamReply, wholeReply } from './answer.ts'
import { readConversation } from './conversation.ts'
import { requestSchema } from './request.ts'
import { checkPairs, checkRequest } from './rules.ts'

/** OpenAI's chat completions: https://platform.openai.com/docs/api-reference/chat/create */
export const openai: Dialect = {
  handle({ path, headers, body }) {
    if (path === '/v1/embeddings') return embed(body)
    if (path === '/v1/decisions') return decideAsOpenAi(body)
    if (path !== '/v1/chat/completions') throw new Refusal(404, `unknown path ${path}`)
    if (headers.get('authorization') !== `Bearer ${upstreamKey}`)
      throw new Refusal(401, 'incorrect API key provided')
    const request = parseBody(requestSchema, body, bracketedPath)
    const scenario = readScenario(request.model)
    checkRequest(request)
    const { reasoning_effort: effort } = request
    const thinks = effort !== undefined && effort !== null && effort !== 'none'
    const conversation = readConversation(request, thinks)
    checkPairs(conversation.turns)
    const given = answer(scenario, conversation)
    return request.stream ? streamReply(request, given) : wholeReply(request, given)
  },

  refuse({ status, message, retryAfter }) {
    const type = errorTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error')
    return {
      status,
      ...(retryAfter !== undefined && { headers: { 'retry-after': String(retryAfter) } }),
      body: { error: { message, type, param: null, code: errorCodes[status] ?? null } },
    }
  },
}

const embedSchema = z.strictObject({
  model: z.string(),
  input: z.array(z.string().min(1)).min(1),
  dimensions: z.int().positive().optional(),
  encoding_format: z.enum(['float', 'base64']).optional(),
})

/** https://platform.openai.com/docs/api-reference/embeddings/create */
function embed(body: unknown): WholeReply {
  const { model, input } = parseBody(embedSchema, body, bracketedPath)
  const data = input.map((_, index) => ({
    object: 'embedding',
    index,
    embedding: sampleVector(index),
  }))
  const usage = { prompt_tokens: input.length, total_tokens: input.length }
  return { kind: 'whole', model, body: { object: 'list', data, model, usage } }
}

const errorTypes: Readonly<Record<number, string>> = { 429: 'requests' }
const errorCodes: Readonly<Record<number, string>> = {
  401: 'invalid_api_key',
  404: 'model_not_found',
  429: 'rate_limit_exceeded',
}
