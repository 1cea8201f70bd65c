import { type Dialect, dottedPath, parseBody, upstreamKey } from '../dialect.ts'
import { Refusal } from '../refusal.ts'
import { answer, readScenario } from '../scenario.ts'
import { streamReply, wholeReply } from './answer.ts'
import { readConversation } from './conversation.ts'
import { requestSchema } from './request.ts'
import { checkRequest, lacksThinking } from './rules.ts'

/** Converse: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html */
export const bedrock: Dialect = {
  handle({ path, headers, body }) {
    const [, segment = '', operation] =
      /^\/model\/([^/]+)\/(converse|converse-stream)$/.exec(path) ?? []
    if (!operation) throw new Refusal(404, `unknown path ${path}`)
    if (headers.get('authorization') !== `Bearer ${upstreamKey}`)
      throw new Refusal(403, 'The security token included in the request is invalid.')
    const model = decodeURIComponent(segment)
    const request = parseBody(requestSchema, body, dottedPath)
    const scenario = readScenario(model)
    checkRequest(request)
    const given = answer(scenario, readConversation(request))
    const reply = operation === 'converse' ? wholeReply(model, given) : streamReply(model, given)
    return lacksThinking(request.messages) ? { ...reply, lacksProof: true } : reply
  },

  refuse({ status, message, retryAfter }) {
    return {
      status,
      headers: {
        'x-amzn-errortype': errorTypes[status] ?? 'InternalServerException',
        ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
      },
      body: { message },
    }
  },
}

const errorTypes: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  429: 'ThrottlingException',
  503: 'ServiceUnavailableException',
}
