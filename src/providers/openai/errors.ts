import type { UpstreamFailure } from '../../core/failure.ts'
import { isObject } from '../../wire/json.ts'
import { extractMessage } from '../shared/error-message.ts'
import { toVendorError } from '../shared/vendor-error.ts'

/**
 * What an error inside a stream means. One that plainly blames the request, the rate or the
 * credential counts as that status; every other is the upstream's own trouble.
 */
export function toFrameFailure(error: unknown): UpstreamFailure {
  const message = extractMessage(error)
  const status = findStatus(error)
  const vendor = { ...toVendorError(error), status }
  return status !== undefined && status < 500
    ? { kind: 'status', status, message, vendor }
    : { kind: 'error-frame', message, vendor }
}

/** What an error in the place of an answer means: the status that it names, with a 200 around it. */
export function toAnswerFailure(body: unknown): UpstreamFailure {
  const message = extractMessage(body)
  const status = findStatus(body)
  const vendor = { ...toVendorError(body), status }
  return status !== undefined
    ? { kind: 'status', status, message, vendor }
    : { kind: 'malformed', detail: `the answer is an error: ${message}`, vendor }
}

function findStatus(body: unknown): number | undefined {
  if (!isObject(body)) return undefined
  const error = isObject(body['error']) ? body['error'] : body
  const code = error['code']
  const candidates = [code, error['status'], error['http_status_code'], body['status_code']]
  const status = candidates.map(Number).find(isErrorStatus)
  if (status !== undefined) return status
  if (error['type'] === 'rate_limit_error' || code === 'rate_limit_exceeded') return 429
  if (error['type'] === 'insufficient_quota' || code === 'insufficient_quota') return 429
  if (error['type'] === 'authentication_error' || code === 'invalid_api_key') return 401
  return error['type'] === 'invalid_request_error' ? 400 : undefined
}

/** Codes come from the upstream's text, so they may be any number. */
function isErrorStatus(code: number): boolean {
  return Number.isInteger(code) && code >= 400 && code < 600
}
