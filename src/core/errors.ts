import type { Millis } from './ids.ts'
import type { HeaderList } from './ports.ts'

/** The class of an error as clients see it in `error.type`. */
export type ErrorType = 'invalid_request' | 'upstream_error' | 'internal' | 'client_cancelled'

interface ErrorEntry {
  readonly status: number
  readonly type: ErrorType
}

/** Every error code of the product with its HTTP status and type. The only such list. */
export const errorTable = {
  'LM-1001': { status: 400, type: 'invalid_request' },
  'LM-1002': { status: 413, type: 'invalid_request' },
  'LM-1003': { status: 404, type: 'invalid_request' },
  'LM-1004': { status: 412, type: 'invalid_request' },
  'LM-2001': { status: 404, type: 'invalid_request' },
  'LM-2002': { status: 400, type: 'invalid_request' },
  'LM-2003': { status: 400, type: 'invalid_request' },
  'LM-2004': { status: 400, type: 'invalid_request' },
  'LM-2005': { status: 400, type: 'invalid_request' },
  'LM-2006': { status: 400, type: 'invalid_request' },
  'LM-2007': { status: 502, type: 'upstream_error' },
  'LM-2008': { status: 400, type: 'invalid_request' },
  'LM-2010': { status: 400, type: 'invalid_request' },
  'LM-3001': { status: 429, type: 'upstream_error' },
  'LM-3002': { status: 502, type: 'upstream_error' },
  'LM-3003': { status: 502, type: 'upstream_error' },
  'LM-3004': { status: 503, type: 'upstream_error' },
  'LM-3005': { status: 504, type: 'upstream_error' },
  'LM-3006': { status: 502, type: 'upstream_error' },
  'LM-3010': { status: 502, type: 'upstream_error' },
  'LM-3011': { status: 504, type: 'upstream_error' },
  'LM-3012': { status: 504, type: 'upstream_error' },
  'LM-3013': { status: 504, type: 'upstream_error' },
  'LM-3020': { status: 503, type: 'upstream_error' },
  'LM-4001': { status: 402, type: 'invalid_request' },
  'LM-4002': { status: 429, type: 'invalid_request' },
  'LM-4003': { status: 429, type: 'invalid_request' },
  'LM-4004': { status: 401, type: 'invalid_request' },
  'LM-5001': { status: 500, type: 'internal' },
  'LM-5003': { status: 503, type: 'internal' },
  'LM-6001': { status: 499, type: 'client_cancelled' },
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof errorTable

export interface ErrorDetail {
  /** The request field at fault, as a dotted path. */
  readonly param?: string | undefined
  /** Replaces the table's status: an upstream's own 4xx, or 405. */
  readonly status?: number | undefined
  /** How long the client should wait; sets `Retry-After` and `error.retry_after`. */
  readonly retryAfter?: Millis | undefined
  /** Further response headers. */
  readonly headers?: HeaderList | undefined
  /** Further fields of the error object. */
  readonly fields?: Readonly<Record<string, unknown>> | undefined
}

/** Tells official SDKs not to repeat a request, which they do with every 429 and 5xx by themselves. */
export const noRetryHeader: HeaderList = Object.freeze(['x-should-retry', 'false'])

/** The one error that clients get to see. Messages hold no secret and no prompt text. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  readonly code: ErrorCode
  readonly status: number
  readonly type: ErrorType
  readonly detail: ErrorDetail

  constructor(code: ErrorCode, message: string, detail: ErrorDetail = {}) {
    super(message)
    this.code = code
    this.status = detail.status ?? errorTable[code].status
    this.type = errorTable[code].type
    this.detail = detail
  }

  /** The same error with more detail; headers and fields are added to those that it has. */
  with({ headers = [], fields, ...more }: ErrorDetail): GatewayError {
    return new GatewayError(this.code, this.message, {
      ...this.detail,
      ...more,
      headers: [...(this.detail.headers ?? []), ...headers],
      fields: { ...this.detail.fields, ...fields },
    })
  }
}

/** A malformed or invalid request, LM-1001, with the field that is at fault. */
export function invalid(message: string, param?: string): GatewayError {
  return new GatewayError('LM-1001', message, { param })
}

/** An internal error: the client learns nothing but the code. */
export function internal(): GatewayError {
  return new GatewayError('LM-5001', 'internal error')
}

/**
 * A mistake of the host that the gateway is embedded in, so it is no 400: something ahead of the
 * gateway has read the body that it forwards.
 */
export function bodyAlreadyRead(): GatewayError {
  const message =
    'the body of this request was read before it reached the gateway; mount the gateway ahead of body parsers'
  return new GatewayError('LM-1001', message, { status: 500, headers: noRetryHeader })
}

/** The body of an error answer, and of a stream's terminal frame. */
export function renderError(error: GatewayError, requestId: string): { error: object } {
  const { param, retryAfter, fields } = error.detail
  return {
    error: {
      code: error.code,
      type: error.type,
      message: error.message,
      param: param ?? null,
      request_id: requestId,
      ...(retryAfter !== undefined && { retry_after: Math.ceil(retryAfter / 1000) }),
      ...fields,
    },
  }
}
