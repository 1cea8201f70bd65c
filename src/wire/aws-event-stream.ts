import { UpstreamFault } from '../core/failure.ts'
import { concat } from './byte-list.ts'
import { crc32 } from './crc32.ts'

/** One message of an AWS event stream. */
export interface AwsMessage {
  /** The headers whose value is a string. The gateway reads no other type. */
  readonly headers: ReadonlyMap<string, string>
  readonly payload: Uint8Array
}

/** Maximum length of a message in bytes. A longer one is treated as an attack. */
export const maxMessageBytes = 24 * 1024 * 1024

/** Bytes of the prelude: total length, length of the headers, and the checksum of both. */
const preludeLength = 12
const checksumLength = 4
const minMessageBytes = preludeLength + checksumLength

/**
 * Splits a body of type `application/vnd.amazon.eventstream` into messages. A wrong length or checksum
 * throws `closed-early`, as for a broken connection, since the bytes after it cannot be trusted. Format:
 * https://docs.aws.amazon.com/lexv2/latest/dg/event-stream-encoding.html
 */
export class AwsEventStream {
  #pieces: Uint8Array[] = []
  #length = 0
  /** Number of bytes needed to continue: a prelude, then the whole message that it announces. */
  #awaited = preludeLength
  /** The headers of the last message. Nearly every following message has the same ones. */
  #headerBlock = new Uint8Array(0)
  #headers: ReadonlyMap<string, string> = new Map()

  /** True when no message is incomplete. */
  get isBetweenMessages(): boolean {
    return this.#length === 0
  }

  /** Yields the messages that these bytes complete, then throws if the bytes after them are corrupt. */
  *push(chunk: Uint8Array): Generator<AwsMessage, void, undefined> {
    this.#pieces.push(chunk)
    this.#length += chunk.length
    if (this.#length < this.#awaited) return
    let bytes = this.#joined()
    while (bytes.length >= this.#awaited) {
      if (this.#awaited === preludeLength) {
        this.#awaited = messageLength(bytes)
        continue
      }
      const message = bytes.subarray(0, this.#awaited)
      bytes = bytes.subarray(this.#awaited)
      this.#awaited = preludeLength
      yield this.#read(message)
    }
    this.#pieces = bytes.length > 0 ? [bytes] : []
    this.#length = bytes.length
  }

  /** Returns all held bytes as one array. Each message is joined only once, however it was split. */
  #joined(): Uint8Array {
    const bytes = this.#pieces.length === 1 ? this.#pieces[0] : undefined
    return bytes ?? concat(this.#pieces, this.#length)
  }

  #read(bytes: Uint8Array): AwsMessage {
    verifyChecksum(bytes)
    const headersEnd = preludeLength + readUint(bytes, 4, 4)
    const block = bytes.subarray(preludeLength, headersEnd)
    if (!isEqual(block, this.#headerBlock)) {
      this.#headers = readHeaders(block)
      this.#headerBlock = block.slice()
    }
    return { headers: this.#headers, payload: bytes.subarray(headersEnd, -checksumLength) }
  }
}

/** Encodes one message. Each header must be shorter than 256 bytes in name, and 64 KiB in value. */
export function encodeAwsMessage(
  headers: Readonly<Record<string, string>>,
  payload: Uint8Array,
): Uint8Array {
  const block = concat(Object.entries(headers).flatMap(encodeHeader))
  const length = minMessageBytes + block.length + payload.length
  const prelude = concat([encodeUint(length, 4), encodeUint(block.length, 4)])
  const message = concat([prelude, encodeUint(crc32(prelude), 4), block, payload])
  return concat([message, encodeUint(crc32(message), checksumLength)])
}

function encodeHeader([name, value]: readonly [string, string]): Uint8Array[] {
  const [nameBytes, valueBytes] = [encoder.encode(name), encoder.encode(value)]
  const type = encodeUint(stringType, 1)
  return [
    encodeUint(nameBytes.length, 1),
    nameBytes,
    type,
    encodeUint(valueBytes.length, 2),
    valueBytes,
  ]
}

const encoder = new TextEncoder()

/** Writes a big-endian unsigned integer. */
function encodeUint(value: number, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, at) => (value / 256 ** (length - 1 - at)) & 0xff)
}

function messageLength(bytes: Uint8Array): number {
  verifyChecksum(bytes.subarray(0, preludeLength))
  const total = readUint(bytes, 0, 4)
  const headers = readUint(bytes, 4, 4)
  if (total < minMessageBytes || total > maxMessageBytes || headers > total - minMessageBytes)
    throw corruptStream()
  return total
}

/** Verifies that the last four bytes are the checksum of the bytes before them. */
function verifyChecksum(bytes: Uint8Array): void {
  const end = bytes.length - checksumLength
  if (crc32(bytes.subarray(0, end)) !== readUint(bytes, end, checksumLength)) throw corruptStream()
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false
  return true
}

/** Bytes of a value by its type: booleans, integers, timestamp, UUID. */
const fixedLengths: Readonly<Record<number, number>> = {
  0: 0,
  1: 0,
  2: 1,
  3: 2,
  4: 4,
  5: 8,
  8: 8,
  9: 16,
}
const bytesType = 6
const stringType = 7

/**
 * Reads the headers. Each has the length of its name, the name, a type and a value; byte arrays and
 * strings begin with their length.
 */
function readHeaders(block: Uint8Array): ReadonlyMap<string, string> {
  const headers = new Map<string, string>()
  let at = 0
  const take = (length: number): Uint8Array => {
    if (at + length > block.length) throw corruptStream()
    at += length
    return block.subarray(at - length, at)
  }
  const takeUint = (length: number): number => readUint(take(length), 0, length)
  while (at < block.length) {
    const name = decoder.decode(take(takeUint(1)))
    const type = takeUint(1)
    const isCounted = type === bytesType || type === stringType
    const length = isCounted ? takeUint(2) : fixedLengths[type]
    if (length === undefined) throw corruptStream()
    const value = take(length)
    // The last of repeated headers counts.
    if (type === stringType) headers.set(name, decoder.decode(value))
    else headers.delete(name)
  }
  return headers
}

const decoder = new TextDecoder()

/** Reads a big-endian unsigned integer. */
function readUint(bytes: Uint8Array, at: number, length: number): number {
  let value = 0
  // Callers never read past the end.
  for (let end = at + length; at < end; at++) value = value * 256 + (bytes[at] as number)
  return value
}

function corruptStream(): UpstreamFault {
  return new UpstreamFault({ kind: 'closed-early' })
}
