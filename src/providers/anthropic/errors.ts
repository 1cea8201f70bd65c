import type { UpstreamFailure } from '../../core/failure.ts'
import { isObject, type JsonObject } from '../../wire/json/parse.ts'
import { extractMessage } from '../base/error-message.ts'
import { isHiddenError, toAnswerFailure, toFrameFailure } from '../base/hidden-error.ts'
import { toVendorError } from '../base/vendor-error.ts'

/**
 * Error types and their statuses, for errors that arrive after a status 200. The types of 5xx errors
 * are not listed: such an error, like one of an unknown type, is a fault of the upstream.
 * https://platform.claude.com/docs/en/api/errors
 */
const errorStatuses: ReadonlyMap<unknown, number> = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
])

/** Reads the `error` object of an answer with status 200, or of a stream's `error` event. */
export function parseErrorObject(
  error: unknown,
): Extract<UpstreamFailure, { kind: 'status' | 'error-frame' }> {
  const status = errorStatuses.get(isObject(error) ? error['type'] : undefined)
  const message = extractMessage({ error })
  const vendor = { ...toVendorError({ error }), status }
  return status === undefined
    ? { kind: 'error-frame', message, vendor }
    : { kind: 'status', status, message, vendor }
}

/**
 * Returns the failure of an answer with status 200 that is an error, in the form of this API or in that of another
 * one: compatible servers of other vendors report errors as they do there.
 */
export function findAnswerError(body: JsonObject): UpstreamFailure | undefined {
  const { type, error, content } = body
  if (type === 'error' && isObject(error)) {
    const failure = parseErrorObject(error)
    if (failure.kind === 'status') return failure
    const { message, vendor } = failure
    return { kind: 'malformed', detail: `the answer is an error: ${message}`, vendor }
  }
  const isError = type === 'error' || isHiddenError(body, content)
  return isError ? toAnswerFailure(body) : undefined
}

/** Does the same for an event of a stream. `type` is the event's own, or that of its `event:` line. */
export function findEventError(
  event: JsonObject,
  type: string | undefined,
): UpstreamFailure | undefined {
  if (type === 'error' && isObject(event['error'])) return parseErrorObject(event['error'])
  const isError = type === 'error' || isHiddenError(event, type)
  return isError ? toFrameFailure(event) : undefined
}
