import { STATUS_CODES } from 'node:http'
import {
  type BufferedBody,
  type HeaderList,
  isBuffered,
  type ResponseParts,
} from '../../../src/core/ports.ts'
import type { UnreadStream } from '../../../src/wire/convert-stream.ts'
import { BodyWriter } from './body-writer.ts'
import type { UnsentBytes } from './unsent-bytes.ts'
import type { SentResponse } from './whatwg-internals.ts'

/** The status, headers and body of a response of any class. */
export interface HostResponseParts extends Omit<ResponseParts, 'body'> {
  readonly body: BufferedBody | UnreadStream | null
}

/**
 * A response with just the fields of its own `Response` that the adapter reads. A full `Response` also
 * builds a header map and a stream, which adds 14 % to the processor time of a small request (bench
 * scenario `json32`; see docs/decisions/0006-server-adapter.md).
 */
export class AdapterResponse implements SentResponse {
  readonly status: number
  readonly statusText: string
  readonly headers: { readonly headersInit: Readonly<Record<string, string>> }
  readonly bodyType: 'String' | undefined
  readonly bodyInit: string | undefined
  readonly _buffer: Uint8Array | undefined
  readonly body: BodyWriter | null

  constructor({ status, headers, body }: HostResponseParts, unsent: UnsentBytes) {
    const whole = body !== null && isBuffered(body) ? body : undefined
    this.status = status
    this.statusText = STATUS_CODES[status] ?? ''
    this.headers = { headersInit: joinHeaders(headers, whole) }
    this.bodyType = typeof whole === 'string' ? 'String' : undefined
    this.bodyInit = typeof whole === 'string' ? whole : undefined
    this._buffer = typeof whole === 'string' ? undefined : whole
    this.body = body === null || isBuffered(body) ? null : new BodyWriter(body, unsent)
  }
}

/** Returns the headers as an object. Without `content-length`, Node would use chunked encoding. */
function joinHeaders(list: HeaderList, whole: BufferedBody | undefined): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at] as string
    const value = list[at + 1] as string
    const before = headers[name]
    headers[name] = before === undefined ? value : `${before}, ${value}`
  }
  // A text body is ASCII, so its length is its number of bytes.
  if (whole !== undefined) headers['content-length'] ??= String(whole.length)
  return headers
}
