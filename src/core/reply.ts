import type { GatewayError } from './errors.ts'
import type { RequestId } from './ids.ts'
import { asHeaderList, type Body, type BufferedBody, type HeaderList, headerList } from './ports.ts'

/** A response before the common headers are added. */
export interface Reply {
  readonly status: number
  readonly headers: HeaderList
  readonly body: Body | null
  /** The `content-security-policy` of the response; by default a page may load nothing. */
  readonly contentPolicy?: string | undefined
}

/** What the answers of a route have in the manner of the API that the route belongs to. */
export interface ErrorForm {
  /** Renders the body of an error. */
  readonly renderError: (error: GatewayError, requestId: RequestId) => object
  /** A second header with the request id, which SDKs of this API read. */
  readonly requestIdHeader?: string
}

const encoder = new TextEncoder()
const noHeaders = asHeaderList([])

/** Makes a JSON response. */
export function jsonReply(value: unknown, status = 200): Reply {
  return jsonBytes(encoder.encode(JSON.stringify(value)), { status })
}

/** Makes a JSON response from encoded JSON. */
export function jsonBytes(
  body: BufferedBody,
  { status = 200, headers = noHeaders }: { status?: number; headers?: HeaderList } = {},
): Reply {
  return { status, headers: asHeaderList([...jsonHeaders(body.length), ...headers]), body }
}

/** The headers of a stream, by default of server-sent events. */
export function streamHeaders(type: string | undefined): HeaderList {
  return type === undefined ? eventHeaders : makeStreamHeaders(type)
}

function makeStreamHeaders(type: string): HeaderList {
  return headerList({
    'content-type': type,
    'cache-control': 'no-cache',
    // Otherwise nginx buffers the frames.
    'x-accel-buffering': 'no',
  })
}

const eventHeaders = makeStreamHeaders('text/event-stream; charset=utf-8')

/** The headers of a JSON response of `length` bytes. */
export function jsonHeaders(length: number): HeaderList {
  return asHeaderList(['content-type', 'application/json', 'content-length', String(length)])
}
