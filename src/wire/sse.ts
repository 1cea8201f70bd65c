import { UpstreamFault } from '../core/failure.ts'
import { ByteList } from './byte-list.ts'
import { isObject, tryParseJson } from './json/parse.ts'

/** One server-sent event as received. */
export interface RawEvent {
  /** The bytes of the event, including its blank line. */
  readonly bytes: Uint8Array
  /** The joined `data:` fields; undefined when there are none. */
  readonly data: string | undefined
  /** The last `event:` field; undefined when there is none. */
  readonly event: string | undefined
  /** False for an event that the body ends without its blank line. */
  readonly closed: boolean
}

/** Maximum length of an event in bytes. A longer one is treated as an attack. */
export const maxEventBytes = 16 * 1024 * 1024

const lf = 0x0a
const cr = 0x0d

/**
 * Splits a byte stream into server-sent events. Lines end with LF, CRLF or CR, also split between chunks.
 * The `bytes` of all events, including the last one, add up to the input, but for JSON outside of a field. Consecutive
 * blank lines form one event without fields. Format:
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
export class SseSplitter {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  /** The bytes of the incomplete event. */
  readonly #held = new ByteList()
  /** Number of bytes of the current line so far; a line end after 0 bytes is a blank line. */
  #lineLength = 0
  #afterCr = false
  /** Whether a CR alone, or a CR before an LF, has ended a line so far. */
  #usesCr = false
  #usesCrLf = false
  /** The last chunk ended with the CR of a blank line; its LF may follow. */
  #awaitsLf = false
  /** The first event is complete. Only before it can a byte order mark be one. */
  #hasBegun = false

  push(chunk: Uint8Array): RawEvent[] {
    const events: RawEvent[] = []
    let start =
      this.#held.length === 0 && !this.#afterCr ? this.#splitWholeEvents(chunk, events) : 0
    let lineLength = this.#lineLength
    let afterCr = this.#afterCr
    if (afterCr && chunk.length > 0 && chunk[0] !== lf) this.#usesCr = true
    if (this.#awaitsLf && chunk.length > 0) {
      this.#awaitsLf = false
      const end = chunk[0] === lf ? 1 : 0
      afterCr = false
      events.push(this.#complete(chunk.subarray(0, end)))
      start = end
    }
    for (let at = start; at < chunk.length; at++) {
      const byte = chunk[at]
      if (byte === lf) {
        if (afterCr) {
          afterCr = false
          this.#usesCrLf = true
          continue
        }
      } else if (byte === cr) {
        afterCr = true
        const next = chunk[at + 1]
        if (next !== undefined && next !== lf) this.#usesCr = true
      } else {
        afterCr = false
        lineLength++
        continue
      }
      if (lineLength > 0) {
        lineLength = 0
        continue
      }
      // A blank line. An LF after a CR belongs to it.
      let end = at + 1
      if (at === start && this.#held.length === 0) {
        while (chunk[end] === lf || chunk[end] === cr) end++
        at = end - 1
        afterCr = chunk[at] === cr
        events.push(this.#complete(chunk.subarray(start, end)))
        start = end
        continue
      }
      if (byte === cr) {
        if (chunk[end] === lf) {
          end++
          at++
          afterCr = false
        } else if (end === chunk.length && (this.#usesCrLf || !this.#usesCr)) {
          this.#awaitsLf = true
          break
        }
      }
      events.push(this.#complete(chunk.subarray(start, end)))
      start = end
    }
    this.#lineLength = lineLength
    this.#afterCr = afterCr
    if (start < chunk.length) this.#hold(chunk.subarray(start))
    return events
  }

  /**
   * The fast path: a typical chunk has complete ASCII events with line ends that are all LF or all CRLF,
   * which native string searches find much faster than the loop (bench scenario `stream`). Returns the
   * number of bytes processed.
   */
  #splitWholeEvents(chunk: Uint8Array, events: RawEvent[]): number {
    const text = this.#decoder.decode(chunk)
    // Equal lengths mean ASCII, or invalid UTF-8 that the decoder has replaced.
    if (text.length !== chunk.length || text.includes('\ufffd')) return 0
    const lineEnd = text.includes('\r') ? '\r\n' : '\n'
    const blankLine = lineEnd + lineEnd
    let start = 0
    for (let at = text.indexOf(blankLine); at >= 0; at = text.indexOf(blankLine, start)) {
      if (lineEnd === '\r\n') {
        // Only for events of one line; in longer ones a lone LF or CR may end a line.
        if (text.indexOf('\r', start) < at || text.indexOf('\n', start) < at) return start
        this.#usesCrLf = true
      }
      let end = at + blankLine.length
      if (at === start) while (text.startsWith(lineEnd, end)) end += lineEnd.length
      this.#hasBegun = true
      events.push(parseEvent(chunk.subarray(start, end), text.slice(start, end)))
      start = end
    }
    return start
  }

  /** Returns the last event if the body ended without its blank line. */
  end(): RawEvent[] {
    if (this.#held.length === 0) return []
    const event = this.#complete(new Uint8Array(0))
    const { bytes } = event
    const hasBlankLine = bytes.at(-1) === lf && bytes.at(-2) === lf
    return [{ ...event, closed: this.#awaitsLf || hasBlankLine }]
  }

  #hold(piece: Uint8Array): void {
    this.#held.push(piece)
    if (this.#held.length > maxEventBytes) {
      throw new UpstreamFault({ kind: 'malformed', detail: 'an event of the stream is too long' })
    }
  }

  #complete(last: Uint8Array): RawEvent {
    let bytes = last
    if (this.#held.length > 0) {
      this.#held.push(last)
      bytes = this.#held.takeAll()
    }
    const text = this.#decoder.decode(bytes)
    const isMarked = !this.#hasBegun && text.startsWith('\ufeff')
    this.#hasBegun = true
    return parseEvent(bytes, isMarked ? text.slice(1) : text)
  }
}

/**
 * Returns the bytes of an event without the blank lines before it, which depend on where the network cut the
 * stream: an empty line dispatches an empty event in some official SDKs.
 */
export function skipBlankLines(bytes: Uint8Array): Uint8Array {
  let at = 0
  while (bytes[at] === lf || bytes[at] === cr) at++
  return at === 0 ? bytes : bytes.subarray(at)
}

/** Parses the fields of one event. Fast path: one `data:` line, perhaps after an `event:` line. */
function parseEvent(bytes: Uint8Array, text: string): RawEvent {
  const lines = trimLineEnds(text)
  const nameEnd = lines.startsWith('event:') ? lines.indexOf('\n') : -1
  if (
    lines.startsWith('data:', nameEnd + 1) &&
    !lines.includes('\n', nameEnd + 1) &&
    !lines.includes('\r')
  ) {
    return {
      bytes,
      data: readValue(lines, nameEnd + 1 + 'data:'.length),
      event: nameEnd < 0 ? undefined : readValue(lines.slice(0, nameEnd), 'event:'.length),
      closed: true,
    }
  }
  let data: string | undefined
  let event: string | undefined
  for (const line of lines.split(/\r\n|\n|\r/)) {
    const [name, value] = parseField(line)
    if (name === 'data') data = data === undefined ? value : `${data}\n${value}`
    else if (name === 'event') event = value
  }
  if (data === undefined && event === undefined) return readBareJson(bytes, lines)
  return { bytes, data, event, closed: true }
}

/**
 * Servers and proxies write errors as bare JSON into a stream that has begun, or has been announced by its type. Such
 * an error reads as the data of an event, and is written as one.
 */
function readBareJson(bytes: Uint8Array, lines: string): RawEvent {
  const json = lines.trimStart()
  const isBare = /^[[{]/.test(json) && isErrorBody(tryParseJson(json))
  if (!isBare) return { bytes, data: undefined, event: undefined, closed: true }
  const written = encoder.encode(`data: ${json.replace(/[\r\n]+/g, ' ')}\n\n`)
  return { bytes: written, data: json, event: undefined, closed: true }
}

/** True for the body of an error, in the forms of all vendors. A whole answer in place of a stream is none. */
function isErrorBody(value: unknown): boolean {
  const body = Array.isArray(value) ? value[0] : value
  if (!isObject(body)) return false
  const { choices, type, message } = body
  const isAnswer =
    Array.isArray(choices) && choices.some((one) => isObject(one) && !('error' in one))
  if (isAnswer) return false
  return (
    type === 'error' || typeof message === 'string' || errorMembers.some((name) => name in body)
  )
}

const errorMembers = ['error', 'errors', 'base_resp', 'code', 'detail', 'msg'] as const

const encoder = new TextEncoder()

/** Removes the line ends after the last field. */
function trimLineEnds(text: string): string {
  let end = text.length
  while (text.charCodeAt(end - 1) === lf || text.charCodeAt(end - 1) === cr) end--
  return text.slice(0, end)
}

function parseField(line: string): [name: string, value: string] {
  const end = line.indexOf(':')
  if (end < 0) return [line, '']
  return [line.slice(0, end), readValue(line, end + 1)]
}

/** Returns the value after a colon, without one leading space. */
function readValue(line: string, start: number): string {
  return line.slice(line[start] === ' ' ? start + 1 : start)
}
