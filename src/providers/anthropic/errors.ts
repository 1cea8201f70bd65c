import type { UpstreamFailure } from '../../core/failure.ts'
import { isObject } from '../../wire/json.ts'
import { extractMessage } from '../shared/error-message.ts'
import { toVendorError } from '../shared/vendor-error.ts'

/** Errors inside a 200 that plainly have the meaning of a status. All others are the server's own trouble. */
const errorStatuses: ReadonlyMap<unknown, number> = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
])

/** What an `error` object that came with status 200 means. */
export function errorIn(
  error: unknown,
): Extract<UpstreamFailure, { kind: 'status' | 'error-frame' }> {
  const status = errorStatuses.get(isObject(error) ? error['type'] : undefined)
  const message = extractMessage({ error })
  const vendor = { ...toVendorError({ error }), status }
  return status === undefined
    ? { kind: 'error-frame', message, vendor }
    : { kind: 'status', status, message, vendor }
}
