import * as z from 'zod'
import type { UpstreamError } from '../../core/endpoints.ts'
import type { UpstreamFailure } from '../../core/failure.ts'
import { isObject, tryParseJson } from '../../wire/json/parse.ts'
import { extractMessage } from '../base/error-message.ts'
import { isStatedError, toAnswerFailure } from '../base/hidden-error.ts'
import { parseVendorError, toVendorError } from '../base/vendor-error.ts'

/*
 * Google's APIs report errors as google.rpc.Status: `code` repeats the HTTP status, and each of the
 * `details` has an `@type`. A stream wraps the object in a list.
 * https://ai.google.dev/gemini-api/docs/troubleshooting
 */

const detail = z.looseObject({
  reason: z.string().optional().catch(undefined),
  retryDelay: z.string().optional().catch(undefined),
})

const errorBody = z.looseObject({
  error: z.looseObject({
    code: z.int().optional().catch(undefined),
    status: z.string().optional().catch(undefined),
    details: z.array(detail).optional().catch(undefined),
  }),
})

type GoogleError = z.infer<typeof errorBody>['error']

/** Parses an answer outside 2xx. A body that is not Google's error object keeps the HTTP status. */
export function parseError(status: number, body: string): UpstreamError {
  const error = parseErrorObject(tryParseJson(body))
  return {
    ...parseVendorError(body),
    status: error ? correctStatus(error, status) : status,
    retryAfter: error && parseRetryDelay(error),
  }
}

/** Parses an error object inside a 200 answer; undefined when the value is not an error object. */
export function parseFailure(value: unknown): UpstreamFailure | undefined {
  if (!isObject(value) ? !Array.isArray(value) : !isStatedError(value['error'])) return undefined
  const error = parseErrorObject(value)
  if (!error) return isObject(value) ? toAnswerFailure(value) : undefined
  const named = statusByName.get(error.status ?? '') ?? 500
  const status = error.code !== undefined && error.code >= 400 ? error.code : named
  return {
    kind: 'status',
    status: correctStatus(error, status),
    message: extractMessage(value),
    retryAfter: parseRetryDelay(error),
    vendor: { ...toVendorError(value), status },
  }
}

/** HTTP status of each `google.rpc.Code`, for errors that state only its name. */
const statusByName: ReadonlyMap<string, number> = new Map([
  ['INVALID_ARGUMENT', 400],
  ['FAILED_PRECONDITION', 400],
  ['OUT_OF_RANGE', 400],
  ['UNAUTHENTICATED', 401],
  ['PERMISSION_DENIED', 403],
  ['NOT_FOUND', 404],
  ['ABORTED', 409],
  ['ALREADY_EXISTS', 409],
  ['RESOURCE_EXHAUSTED', 429],
  ['CANCELLED', 499],
  ['INTERNAL', 500],
  ['UNKNOWN', 500],
  ['DATA_LOSS', 500],
  ['UNIMPLEMENTED', 501],
  ['UNAVAILABLE', 503],
  ['DEADLINE_EXCEEDED', 504],
])

/** Turns the 400 for a wrong API key into 401: the operator set the key, not the client. */
function correctStatus({ details }: GoogleError, status: number): number {
  return details?.some(({ reason }) => reason === 'API_KEY_INVALID') ? 401 : status
}

/**
 * Reads `google.rpc.RetryInfo`, a protobuf duration: seconds with up to nine decimals and an `s`.
 */
function parseRetryDelay({ details }: GoogleError): number | undefined {
  for (const { retryDelay } of details ?? []) {
    const [, seconds] = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(retryDelay ?? '') ?? []
    if (seconds !== undefined) return Math.ceil(Number(seconds) * 1000)
  }
  return undefined
}

function parseErrorObject(value: unknown): GoogleError | undefined {
  const found = Array.isArray(value) ? value[0] : value
  // Runs for every stream event: a failed schema would cost more than the rest of the event.
  if (!isObject(found) || found['error'] === undefined) return undefined
  return errorBody.safeParse(found).data?.error
}
