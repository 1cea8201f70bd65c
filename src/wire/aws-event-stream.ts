import { UpstreamFault } from '../core/failure.ts'
import { concat } from './body.ts'

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
const shortest = preludeLength + checksumLength

/**
 * Cuts a body of type `application/vnd.amazon.eventstream` into its messages. A length or checksum
 * that is wrong throws `closed-early`: past it nothing can be trusted, as after a broken connection.
 */
export class AwsEventStream {
  #pieces: Uint8Array[] = []
  #length = 0
  /** Bytes it takes to go on: a prelude, then the whole message that it announces. */
  #awaited = preludeLength

  /** True when no message has been begun and not ended. */
  get isBetweenMessages(): boolean {
    return this.#length === 0
  }

  /** The messages that these bytes complete; they are yielded before a fault behind them is thrown. */
  *push(chunk: Uint8Array): Generator<AwsMessage, void, undefined> {
    this.#pieces.push(chunk)
    this.#length += chunk.length
    while (this.#length >= this.#awaited) {
      const bytes = this.#joined()
      if (this.#awaited === preludeLength) {
        this.#awaited = messageLength(bytes)
        continue
      }
      const message = bytes.subarray(0, this.#awaited)
      this.#hold(bytes.subarray(this.#awaited))
      this.#awaited = preludeLength
      yield readMessage(message)
    }
  }

  /** All that is held, in one piece. A message is put together once, however it was cut. */
  #joined(): Uint8Array {
    const bytes = this.#pieces.length === 1 ? this.#pieces[0] : undefined
    const whole = bytes ?? concat(this.#pieces, this.#length)
    this.#hold(whole)
    return whole
  }

  #hold(bytes: Uint8Array): void {
    this.#pieces = [bytes]
    this.#length = bytes.length
  }
}

function messageLength(bytes: Uint8Array): number {
  check(bytes.subarray(0, preludeLength))
  const total = uint(bytes.subarray(0, 4))
  const headers = uint(bytes.subarray(4, 8))
  if (total < shortest || total > maxMessageBytes || headers > total - shortest) throw corrupt()
  return total
}

function readMessage(bytes: Uint8Array): AwsMessage {
  check(bytes)
  const headersEnd = preludeLength + uint(bytes.subarray(4, 8))
  return {
    headers: readHeaders(bytes.subarray(preludeLength, headersEnd)),
    payload: bytes.subarray(headersEnd, -checksumLength),
  }
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
    if (at + length > block.length) throw corrupt()
    at += length
    return block.subarray(at - length, at)
  }
  while (at < block.length) {
    const name = decoder.decode(take(uint(take(1))))
    const type = uint(take(1))
    const isCounted = type === bytesType || type === stringType
    const length = isCounted ? uint(take(2)) : fixedLengths[type]
    if (length === undefined) throw corrupt()
    const value = take(length)
    if (type === stringType) headers.set(name, decoder.decode(value))
  }
  return headers
}

const decoder = new TextDecoder()

/** A big-endian unsigned integer. */
function uint(bytes: Uint8Array): number {
  return bytes.reduce((value, byte) => value * 256 + byte, 0)
}

/** The last four bytes are the checksum of all before them. */
function check(bytes: Uint8Array): void {
  const expected = uint(bytes.subarray(-checksumLength))
  if (crc32(bytes.subarray(0, -checksumLength)) !== expected) throw corrupt()
}

function corrupt(): UpstreamFault {
  return new UpstreamFault({ kind: 'closed-early' })
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value
})

/** The common CRC-32 (reflected polynomial EDB88320), as in zlib. */
function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  // The table has an entry for every byte.
  for (const byte of bytes) crc = (crcTable[(crc ^ byte) & 0xff] as number) ^ (crc >>> 8)
  return (crc ^ 0xffffffff) >>> 0
}
