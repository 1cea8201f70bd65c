import type { UpstreamFailure } from '../../core/failure.ts'
import { isObject, type JsonObject } from '../../wire/json/parse.ts'
import { extractMessage } from './error-message.ts'
import { toVendorError } from './vendor-error.ts'

/**
 * True for a body or an event with status 200 that is an error: it has `error`, also beside content, `base_resp` has
 * another code than 0, or there is, in place of an answer, `detail`, `success: false`, or a code with a text.
 * `answer` is the list in an answer, or the type of an event; an empty list is no answer.
 */
export function isHiddenError(body: JsonObject, answer: unknown): boolean {
  const { base_resp: base, error } = body
  if (error !== undefined && isStatedError(error)) return true
  if (base !== undefined && readBaseCode(base) !== undefined) return true
  const hasAnswer = Array.isArray(answer) ? answer.length > 0 : typeof answer === 'string'
  return !hasAnswer && isErrorWithoutAnswer(body)
}

/** False for the value of `error` that some upstreams write where nothing has failed. */
export function isStatedError(error: unknown): boolean {
  if (typeof error === 'number') return isErrorCode(error)
  if (!isObject(error)) return Array.isArray(error) ? error.length > 0 : Boolean(error)
  const { code } = error
  const isCoded = typeof code === 'number' || isText(code)
  return isCoded ? isErrorCode(code) : Object.values(error).some(Boolean)
}

function isErrorWithoutAnswer(body: JsonObject): boolean {
  const { error, object, detail, success, code, msg, message } = body
  if (object === 'error' || success === false) return true
  if (isObject(error) && Object.values(error).some(Boolean)) return true
  if ((detail ?? undefined) !== undefined) return true
  return isText(msg ?? message) && isErrorCode(code)
}

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

/**
 * Returns the failure for an answer of another shape than that of its API: the error that it is, or `detail`, with
 * the text that it has in place of an answer.
 */
export function toShapeFailure(body: unknown, detail: string): UpstreamFailure {
  if (!isObject(body)) return { kind: 'malformed', detail }
  if (isHiddenError(body, undefined)) return toAnswerFailure(body)
  const { message, Message, errors } = body
  const hasWords = isText(message ?? Message) || Array.isArray(errors)
  if (!hasWords) return { kind: 'malformed', detail }
  const words = isText(Message) ? String(Message) : extractMessage(body)
  return { kind: 'malformed', detail: `${detail}: ${words}`, vendor: toVendorError(body) }
}

/** Returns the status that the code of such an error means; undefined where no vendor documents it. */
function mapHiddenStatus({ base_resp: base, code }: JsonObject): number | undefined {
  const ofBase = readBaseCode(base)
  if (ofBase !== undefined) return baseStatuses.get(ofBase)
  const ofBody = Number(code)
  return bodyStatuses.get(ofBody) ?? baseStatuses.get(ofBody)
}

function readBaseCode(base: unknown): number | undefined {
  const code = isObject(base) ? Number(base['status_code'] ?? 0) : 0
  return code === 0 ? undefined : code
}

function isErrorCode(code: unknown): boolean {
  if (typeof code === 'string') return !/^(?:0*|20\d|ok|success)$/i.test(code)
  return typeof code === 'number' && code !== 0 && !(code >= 200 && code < 300)
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

/** MiniMax, `base_resp.status_code`: https://platform.minimax.io/docs/api-reference/errorcode */
const baseStatuses = invert({
  500: [1000, 1001, 1013, 1024, 1033],
  429: [1002, 1041, 2045, 2056],
  401: [1004, 2049],
  402: [1008],
  403: [2038, 2042],
  400: [1026, 1027, 1039, 1042, 1043, 1044, 2013, 2037, 2039, 2048],
})

/**
 * Z.ai, `code` beside `msg`; some numbers of MiniMax mean something else there. The page lists the codes, and gives
 * 429 for an empty balance and for a locked account: https://docs.bigmodel.cn/cn/api/api-code
 */
const bodyStatuses = invert({
  400: [1210, 1213, 1214, 1215, 1261, 1301],
  401: [1000, 1001, 1002, 1003, 1004],
  404: [1211, 1222],
  429: [1112, 1113, 1121, 1302, 1303, 1304, 1305, 1308, 1309, 1310, 1312, 1313],
  500: [1120, 1230, 1234],
})

function invert(codes: Readonly<Record<number, readonly number[]>>): ReadonlyMap<number, number> {
  return new Map(
    Object.entries(codes).flatMap(([status, list]) =>
      list.map((code) => [code, Number(status)] as const),
    ),
  )
}
