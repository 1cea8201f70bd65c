import type { Millis } from './ids.ts'
import { asHeaderList, type HeaderList, headerList } from './ports.ts'

/** The class of an error as clients see it in `error.type`. */
export type ErrorType = 'invalid_request' | 'upstream_error' | 'internal' | 'client_cancelled'

interface ErrorEntry {
  readonly status: number
  readonly type: ErrorType
  /** As the table of docs/api.md has it, which may say more. */
  readonly meaning: string
}

/** Every error code of the product, with its HTTP status, type and meaning. The only such list. */
export const errorTable = {
  'LM-1001': request(400, 'the request is malformed, or no link can express it'),
  'LM-1002': request(413, 'the body is over the limit'),
  'LM-1003': request(404, 'the route does not exist, or not with this method'),
  'LM-1004': request(412, 'the configuration file does not have the hash in If-Match'),
  'LM-2001': request(404, 'the model is not configured'),
  'LM-2002': request(400, 'the model lacks the capability'),
  'LM-2003': request(400, 'an image for a model, or a fallback, without the modality'),
  'LM-2004': request(400, 'a remote image for a vendor that accepts only data URIs'),
  'LM-2005': request(400, 'a remote image to embed while image_fetch is off'),
  'LM-2006': request(400, 'a remote image that the rules of image_fetch refuse'),
  'LM-2007': upstream(502, 'the host of a remote image failed'),
  'LM-2008': request(400, "an image reference into another vendor's file store"),
  'LM-2010': request(400, 'documents is empty'),
  'LM-2012': request(400, 'the prompt does not fit the model'),
  'LM-2013': request(400, "the vendor's content filter refused the request"),
  'LM-3001': upstream(429, "the provider's rate limit outlasted the retries"),
  'LM-3002': upstream(502, "the provider's answer was malformed"),
  'LM-3003': upstream(502, 'the provider refused'),
  'LM-3004': upstream(503, 'every link of a chain failed'),
  'LM-3005': upstream(504, 'the provider reported a timeout'),
  'LM-3006': upstream(502, 'the provider has no credential'),
  'LM-3010': upstream(502, 'the stream ended before it was complete'),
  'LM-3011': upstream(504, 'no content within first_token_timeout_ms'),
  'LM-3012': upstream(504, 'connecting took longer than connect_timeout_ms'),
  'LM-3013': upstream(504, 'the request took longer than total_timeout_ms'),
  'LM-3020': upstream(503, 'the circuit is open'),
  'LM-3021': upstream(503, 'the provider runs as many calls as max_parallel allows'),
  'LM-4001': request(402, 'a budget has too little left'),
  'LM-4002': request(429, 'too many requests this minute'),
  'LM-4003': request(429, 'too many tokens this minute'),
  'LM-4004': request(401, 'the key is missing or not valid'),
  'LM-4005': request(403, 'the key may not use the model'),
  'LM-4006': request(429, 'too many requests at once'),
  'LM-4007': request(402, 'what the request costs is not known, and auth.unpriced refuses it'),
  'LM-5001': gateway(500, 'internal error'),
  'LM-5003': gateway(
    503,
    'the database, the shared state or the disk cannot be reached or written',
  ),
  'LM-6001': client(499, 'the client disconnected'),
  'LM-6002': gateway(500, 'the gateway process that served the request died'),
} as const satisfies Record<string, ErrorEntry>

function request(status: number, meaning: string): ErrorEntry {
  return { status, type: 'invalid_request', meaning }
}

function upstream(status: number, meaning: string): ErrorEntry {
  return { status, type: 'upstream_error', meaning }
}

function gateway(status: number, meaning: string): ErrorEntry {
  return { status, type: 'internal', meaning }
}

function client(status: number, meaning: string): ErrorEntry {
  return { status, type: 'client_cancelled', meaning }
}

export type ErrorCode = keyof typeof errorTable

export interface ErrorDetail {
  /** The request field at fault, as a dotted path. */
  readonly param?: string | undefined
  /** Replaces the table's status: an upstream's own 4xx, 405, or 426. */
  readonly status?: number | undefined
  /** How long the client should wait. Sets `Retry-After` and `error.retry_after`. */
  readonly retryAfter?: Millis | undefined
  /** Further response headers. */
  readonly headers?: HeaderList | undefined
  /** The status that the upstream has answered with, as the gateway understands it. Clients do not see it. */
  readonly upstreamStatus?: number | undefined
  /** Further fields of the error object. */
  readonly fields?: Readonly<Record<string, unknown>> | undefined
}

/** Stops official SDKs from retrying, which they otherwise do on every 429 and 5xx. */
export const noRetryHeader: HeaderList = headerList({ 'x-should-retry': 'false' })

/** The only error that clients see. Its message contains no secret and no prompt text. */
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

  /** Returns the same error with more detail. Headers and fields are added to the existing ones. */
  with({ headers = noHeaders, fields, ...more }: ErrorDetail): GatewayError {
    return new GatewayError(this.code, this.message, {
      ...this.detail,
      ...more,
      headers: asHeaderList([...(this.detail.headers ?? []), ...headers]),
      fields: { ...this.detail.fields, ...fields },
    })
  }
}

const noHeaders = asHeaderList([])

/** Makes LM-1001 for a malformed or invalid request. `param` names the field at fault. */
export function invalid(message: string, param?: string): GatewayError {
  return new GatewayError('LM-1001', message, { param })
}

/** Makes LM-5001. It shows the client nothing but the code. */
export function internal(): GatewayError {
  return new GatewayError('LM-5001', 'internal error')
}

/**
 * Makes LM-1001 with status 500, because the mistake is the host's: something ahead of the embedded
 * gateway has read the body that the gateway must forward.
 */
export function bodyAlreadyRead(): GatewayError {
  const message =
    'the body of this request was read before it reached the gateway; mount the gateway ahead of body parsers'
  return new GatewayError('LM-1001', message, { status: 500, headers: noRetryHeader })
}

/** Renders the body of an error answer, or of a stream's terminal frame. */
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
