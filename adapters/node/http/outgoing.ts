import { STATUS_CODES } from 'node:http'
import {
  type HeaderList,
  isWhole,
  type ResponseParts,
  type WholeBody,
} from '../../../src/core/ports.ts'
import type { Unread } from '../../../src/wire/convert-stream.ts'
import type { Backlog } from './backlog.ts'
import { Pour } from './pour.ts'

/** What an answer is made of, by whatever class. */
export interface AnswerParts extends Omit<ResponseParts, 'body'> {
  readonly body: WholeBody | Unread | null
}

/**
 * An answer under the names by which the adapter finds the parts of its own `Response`. It sends them
 * from there without the maps and streams of a real one, which cost a small answer a seventh of all
 * its time.
 */
export class Outgoing {
  readonly status: number
  readonly statusText: string
  readonly headers: { readonly headersInit: Readonly<Record<string, string>> }
  readonly bodyType: 'String' | undefined
  readonly bodyInit: string | undefined
  readonly _buffer: Uint8Array | undefined
  readonly body: Pour | null

  constructor({ status, headers, body }: AnswerParts, backlog: Backlog) {
    const whole = body !== null && isWhole(body) ? body : undefined
    this.status = status
    this.statusText = STATUS_CODES[status] ?? ''
    this.headers = { headersInit: byName(headers, whole) }
    this.bodyType = typeof whole === 'string' ? 'String' : undefined
    this.bodyInit = typeof whole === 'string' ? whole : undefined
    this._buffer = typeof whole === 'string' ? undefined : whole
    this.body = body === null || isWhole(body) ? null : new Pour(body, backlog)
  }
}

/** Node itself would choose the chunked form for a length that nobody has told. */
function byName(list: HeaderList, whole: WholeBody | undefined): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at] as string
    const value = list[at + 1] as string
    const before = headers[name]
    headers[name] = before === undefined ? value : `${before}, ${value}`
  }
  // Text is ASCII, so that it has as many bytes as letters.
  if (whole !== undefined) headers['content-length'] ??= String(whole.length)
  return headers
}
