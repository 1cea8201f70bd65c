import type { GatewayError } from '../../core/errors.ts'
import type { RequestId } from '../../core/ids.ts'
import type { ErrorForm } from '../../core/reply.ts'

/** The words of google.rpc.Code by HTTP status: https://cloud.google.com/apis/design/errors#handling_errors */
const words: ReadonlyMap<number, string> = new Map([
  [400, 'INVALID_ARGUMENT'],
  [401, 'UNAUTHENTICATED'],
  [402, 'FAILED_PRECONDITION'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [405, 'UNIMPLEMENTED'],
  [413, 'INVALID_ARGUMENT'],
  [415, 'INVALID_ARGUMENT'],
  [426, 'FAILED_PRECONDITION'],
  [429, 'RESOURCE_EXHAUSTED'],
  [499, 'CANCELLED'],
  [500, 'INTERNAL'],
  [502, 'UNAVAILABLE'],
  [503, 'UNAVAILABLE'],
  [504, 'DEADLINE_EXCEEDED'],
  [529, 'UNAVAILABLE'],
])

/** Renders an error as a google.rpc.Status. The gateway's own fields are texts in an `ErrorInfo`. */
export function renderGeminiError(error: GatewayError, requestId: RequestId): object {
  const { code, status, message, detail } = error
  const { param, retryAfter, fields = {} } = detail
  const { upstream, ...more } = fields
  const texts = Object.entries(more).map(([name, value]) => [name, toText(value)])
  const info = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: code.replace('-', '_'),
    domain: 'model-gateway',
    metadata: {
      code,
      request_id: requestId,
      ...(param !== undefined && { param }),
      ...Object.fromEntries(texts),
    },
  }
  const seconds = retryAfter === undefined ? undefined : Math.ceil(retryAfter / 1000)
  const retry = {
    '@type': 'type.googleapis.com/google.rpc.RetryInfo',
    retryDelay: `${seconds}s`,
  }
  return {
    error: {
      code: status,
      message,
      status: words.get(status) ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL'),
      details: seconds === undefined ? [info] : [info, retry],
      ...(upstream !== undefined && { upstream }),
    },
  }
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** The form of every answer of the Gemini API. */
export const geminiForm: ErrorForm = Object.freeze({ renderError: renderGeminiError })
