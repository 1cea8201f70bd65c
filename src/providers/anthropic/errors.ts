import type { UpstreamFailure } from '../../core/failure.ts'
import { isObject } from '../../wire/json/parse.ts'
import { extractMessage } from '../base/error-message.ts'
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
