import type { GatewayError } from '../../core/errors.ts'
import type { RequestId } from '../../core/ids.ts'
import type { ErrorForm } from '../../core/reply.ts'

/**
 * The types of errors by status. Any other status is an `api_error`.
 * https://platform.claude.com/docs/en/api/errors
 */
const types: ReadonlyMap<number, string> = new Map([
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [504, 'timeout_error'],
  [529, 'overloaded_error'],
])

/** Renders an error in the form of the Messages API, with the gateway's own fields inside of `error`. */
export function renderMessagesError(error: GatewayError, requestId: RequestId): object {
  const { param, retryAfter, fields } = error.detail
  return {
    type: 'error',
    error: {
      type: types.get(error.status) ?? 'api_error',
      message: toMessage(error),
      code: error.code,
      param: param ?? null,
      ...(retryAfter !== undefined && { retry_after: Math.ceil(retryAfter / 1000) }),
      ...fields,
    },
    request_id: requestId,
  }
}

/** Claude Code compacts the conversation when the message begins as Claude's own does. */
function toMessage({ code, message }: GatewayError): string {
  return code === 'LM-2012' ? `prompt is too long: ${message}` : message
}

/** The form of every answer of the Messages API. SDKs read the request id from `request-id`. */
export const messagesForm: ErrorForm = Object.freeze({
  renderError: renderMessagesError,
  requestIdHeader: 'request-id',
})
