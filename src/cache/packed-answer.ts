import type { AsciiText } from '../core/ports.ts'
import type { CachedAnswer } from './answer-store.ts'

/** Everything but the body, and whether that is a text. */
interface Head extends Omit<CachedAnswer, 'body'> {
  readonly isText: boolean
}

const lengthBytes = 4
const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Writes an answer as bytes: the length of the head, the head in JSON, and the body. */
export function packAnswer({ body, ...answer }: CachedAnswer): Uint8Array<ArrayBuffer> {
  const isText = typeof body === 'string'
  const head = encoder.encode(JSON.stringify({ ...answer, isText } satisfies Head))
  const bytes = isText ? encoder.encode(body) : body
  const packed = new Uint8Array(lengthBytes + head.length + bytes.length)
  new DataView(packed.buffer).setUint32(0, head.length)
  packed.set(head, lengthBytes)
  packed.set(bytes, lengthBytes + head.length)
  return packed
}

/** Reads what `packAnswer` of this version has written. */
export function unpackAnswer(packed: Uint8Array): CachedAnswer {
  const length = new DataView(packed.buffer, packed.byteOffset).getUint32(0)
  const start = lengthBytes + length
  // Sealed by a process with the same version: it is part of every key.
  const head = JSON.parse(decoder.decode(packed.subarray(lengthBytes, start))) as Head
  const { isText, ...answer } = head
  const bytes = packed.subarray(start)
  return { ...answer, body: isText ? (decoder.decode(bytes) as AsciiText) : bytes }
}
