import type { UpstreamFailure } from '../../core/failure.ts'
import { isObject } from '../../wire/json/parse.ts'
import { extractMessage } from '../base/error-message.ts'
import { toVendorError } from '../base/vendor-error.ts'
import { mapHiddenStatus } from '../profiles/index.ts'

/**
 * Returns the failure for an error inside a stream. An error that clearly names the request, the rate
 * limit or the credential counts as that status; any other is a failure of the upstream.
 */
export function toFrameFailure(error: unknown): UpstreamFailure {
  const message = extractMessage(error)
  const status = findStatus(error)
  const vendor = { ...toVendorError(error), status }
  return status !== undefined && status < 500
    ? { kind: 'status', status, message, vendor }
    : { kind: 'error-frame', message, vendor }
}

/** Returns the failure for an error in an answer with status 200: the status that the error names. */
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
  const mapped = mapHiddenStatus(body)
  if (mapped !== undefined) return mapped
  if (error['type'] === 'rate_limit_error' || code === 'rate_limit_exceeded') return 429
  if (error['type'] === 'insufficient_quota' || code === 'insufficient_quota') return 429
  if (error['type'] === 'authentication_error' || code === 'invalid_api_key') return 401
  if (error['type'] === 'invalid_request_error' || requestCodes.has(code)) return 400
  return undefined
}

/**
 * The codes that name the request, of failed responses, and of xAI's errors with status 400, in two spellings:
 * https://platform.openai.com/docs/api-reference/responses/object,
 * https://github.com/NousResearch/hermes-agent/issues/27197
 */
const requestCodes: ReadonlySet<unknown> = new Set([
  'bio_policy',
  'Client specified an invalid argument',
  'context_length_exceeded',
  'empty_image_file',
  'failed_to_download_image',
  'image_content_policy_violation',
  'image_file_not_found',
  'image_file_too_large',
  'image_parse_error',
  'image_too_large',
  'image_too_small',
  'invalid_base64_image',
  'invalid_image',
  'invalid_image_format',
  'invalid_image_mode',
  'invalid_image_url',
  'invalid-argument',
  'invalid_prompt',
  'misalignment_policy_violation',
  'unsupported_image_media_type',
])

/** The code comes from the upstream's text, so it may be any number. */
function isErrorStatus(code: number): boolean {
  return Number.isInteger(code) && code >= 400 && code < 600
}
