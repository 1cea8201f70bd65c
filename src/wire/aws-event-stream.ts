import { UpstreamFault } from '../core/failure.ts'
import { concat } from './byte-list.ts'
import { crc32 } from './crc32.ts'

/** One message of an AWS event stream. */
export interface AwsMessage {
  /** The headers whose value is a string; no other type carries anything the gateway reads. */
  readonly headers: ReadonlyMap<string, string>
  readonly payload: Uint8Array
}

/** The longest message that is understood, in bytes. A longer one is no answer but an attack. */
export const maxMessageBytes = 24 * 1024 * 1024

/** Total length, length of the headers, and the checksum of these two. */
const preludeLength = 12
const checksumLength = 4
const minMessageBytes = preludeLength + checksumLength

/**
 * Cuts a body of type `application/vnd.amazon.eventstream` into its messages. A length or checksum
 * that is wrong throws `closed-early`: past it nothing can be trusted, as after a broken connection.
 */
export class AwsEventStream {
  #pieces: Uint8Array[] = []
  #length = 0
  /** Bytes it takes to go on: a prelude, then the whole message that it announces. */
  #awaited = preludeLength
  /** The headers of the last message, which are those of nearly every message that follows. */
  #headerBlock = new Uint8Array(0)
  #headers: ReadonlyMap<string, string> = new Map()

  /** True when no message has been begun and not ended. */
  get isBetweenMessages(): boolean {
    return this.#length === 0
  }

  /** The messages that these bytes complete; they are yielded before a fault behind them is thrown. */
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

  /** All that is held, in one piece. A message is put together once, however it was cut. */
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

function messageLength(bytes: Uint8Array): number {
  verifyChecksum(bytes.subarray(0, preludeLength))
  const total = readUint(bytes, 0, 4)
  const headers = readUint(bytes, 4, 4)
  if (total < minMessageBytes || total > maxMessageBytes || headers > total - minMessageBytes)
    throw corruptStream()
  return total
}

/** The last four bytes are the checksum of all before them. */
function verifyChecksum(bytes: Uint8Array): void {
  const end = bytes.length - checksumLength
  if (crc32(bytes.subarray(0, end)) !== readUint(bytes, end, checksumLength)) throw corruptStream()
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false
  return true
}

/** The bytes of a value by its type: booleans, integers, then timestamp and UUID. */
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

/** Each header: length of the name, name, type, value; bytes and strings tell their own length. */
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
    if (type === stringType) headers.set(name, decoder.decode(value))
  }
  return headers
}

const decoder = new TextDecoder()

/** A big-endian unsigned integer. */
function readUint(bytes: Uint8Array, at: number, length: number): number {
  let value = 0
  // Nobody asks for bytes behind the end.
  for (let end = at + length; at < end; at++) value = value * 256 + (bytes[at] as number)
  return value
}

function corruptStream(): UpstreamFault {
  return new UpstreamFault({ kind: 'closed-early' })
}
