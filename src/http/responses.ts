import { type GatewayError, renderError } from '../core/errors.ts'
import type { RequestId } from '../core/ids.ts'
import { asHeaderList, type HeaderList, headerList, type ResponseParts } from '../core/ports.ts'
import { type ErrorForm, jsonReply, type Reply } from '../core/reply.ts'

/** The headers of every response. */
const securityHeaders = createSecurityHeaders("default-src 'none'")

function createSecurityHeaders(contentPolicy: string): HeaderList {
  return headerList({
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'content-security-policy': contentPolicy,
  })
}

/** The answers of routes without a form of their own: errors as in the OpenAI API. */
const plainForm: ErrorForm = Object.freeze({ renderError })

/** Renders an error. */
export function errorReply(error: GatewayError, id: RequestId, form: ErrorForm = plainForm): Reply {
  const reply = jsonReply(form.renderError(error, id), error.status)
  const { retryAfter, headers } = error.detail
  const wait = retryAfter === undefined ? [] : ['retry-after', String(Math.ceil(retryAfter / 1000))]
  return { ...reply, headers: asHeaderList([...reply.headers, ...wait, ...(headers ?? [])]) }
}

/** Adds the common headers to a reply. */
export function toResponseParts(
  reply: Reply,
  id: RequestId,
  form: ErrorForm = plainForm,
): ResponseParts {
  const { status, headers, body, contentPolicy } = reply
  const security = contentPolicy ? createSecurityHeaders(contentPolicy) : securityHeaders
  const { requestIdHeader } = form
  const more = requestIdHeader === undefined ? security : [requestIdHeader, id, ...security]
  return { status, headers: asHeaderList([...headers, 'x-request-id', id, ...more]), body }
}

/** Removes the body, for HEAD. */
export function withoutBody(reply: Reply): Reply {
  return { ...reply, body: null }
}
