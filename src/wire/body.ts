import { GatewayError } from '../core/errors.ts'
import { UpstreamFault } from '../core/failure.ts'
import type { ByteSource, UnreadBytes } from '../core/ports.ts'
import { type BodySlot, largeBodyBytes } from './body-limiter.ts'
import { ByteList } from './byte-list.ts'

export interface ReadBodyOptions {
  /** The longest body that is taken, in bytes. */
  readonly maxBytes: number
  readonly slot: BodySlot
  /** Waits for the place; rejects as soon as the answer is not waited for any longer. */
  readonly wait: (entered: Promise<void>) => Promise<void>
}

/**
 * The whole body of a client's request, read when it has a place. A body over the limit is refused
 * with LM-1002, and is not read any further; one that breaks off ends as `client-cancelled`.
 */
export async function readBody(request: Request, reading: ReadBodyOptions): Promise<Uint8Array> {
  const { maxBytes, slot, wait } = reading
  const declared = declaredLength(request)
  if (declared !== undefined && declared > maxBytes) throw tooLarge(maxBytes)
  if (!request.body) return new Uint8Array(0)
  // The beginning of a body of unknown length is read like a small one.
  const entered = slot.reserve(declared ?? Math.min(maxBytes, largeBodyBytes))
  if (entered) await wait(entered)
  try {
    const bytes = await read(request, declared, reading)
    slot.shrinkTo(bytes.length)
    return bytes
  } catch (error) {
    if (error instanceof GatewayError || error instanceof UpstreamFault) throw error
    throw new UpstreamFault({ kind: 'client-cancelled' })
  }
}

export interface CollectOptions {
  /** In bytes. */
  readonly maxBytes: number
  /** Counts what has come so far. */
  readonly unread: UnreadBytes
}

/** The whole of an upstream's body; one that is longer than the limit is a malformed answer. */
export async function readUpstreamBody(
  source: ByteSource,
  { maxBytes, unread }: CollectOptions,
): Promise<Uint8Array> {
  const bytes = new ByteList()
  for (let piece = await source.read(); piece !== undefined; piece = await source.read()) {
    bytes.push(piece)
    unread.add(piece.length)
    if (bytes.length > maxBytes) {
      source.cancel()
      throw new UpstreamFault({ kind: 'malformed', detail: 'the answer is too long' })
    }
  }
  return bytes.takeAll()
}

/**
 * The first `limit` bytes of a body as text, or what has come when it breaks off; the rest is not
 * waited for. For error answers: their status has said the most already.
 */
export async function readExcerpt(source: ByteSource, maxBytes: number): Promise<string> {
  const bytes = new ByteList()
  while (bytes.length < maxBytes) {
    const piece = await source.read().catch(() => undefined)
    if (piece === undefined) break
    bytes.push(piece)
  }
  source.cancel()
  return new TextDecoder().decode(bytes.takeAll())
}

/** A length that is no whole number is none, so the bytes are counted. */
function declaredLength({ headers }: Request): number | undefined {
  const header = headers.get('content-length')
  return header !== null && /^\d+$/.test(header) ? Number(header) : undefined
}

/** A body that comes in one piece or a few: the host puts them together at once. */
const maxSingleReadBytes = 64 * 1024

function read(
  request: Request,
  declared: number | undefined,
  reading: ReadBodyOptions,
): Promise<Uint8Array> {
  if (declared !== undefined && declared <= maxSingleReadBytes)
    return request.arrayBuffer().then(asBytes)
  // Only asked where there is a body.
  const reader = (request.body as ReadableStream<Uint8Array>).getReader()
  return declared === undefined ? readCounted(reader, reading) : readDeclared(reader, declared)
}

type Reader = ReadableStreamDefaultReader<Uint8Array>

/** Into memory of the length that has been declared, which the host enforces. */
async function readDeclared(reader: Reader, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  let at = 0
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    if (at + next.value.length > length) throw tooLarge(length)
    bytes.set(next.value, at)
    at += next.value.length
  }
  return bytes.subarray(0, at)
}

/** The reader is left locked where it stops: the host discards or ends what still comes. */
async function readCounted(
  reader: Reader,
  { maxBytes, slot, wait }: ReadBodyOptions,
): Promise<Uint8Array> {
  const bytes = new ByteList()
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    bytes.push(next.value)
    if (bytes.length > maxBytes) throw tooLarge(maxBytes)
    if (bytes.length <= largeBodyBytes || slot.isLarge) continue
    const entered = slot.reserve(maxBytes)
    if (entered) await wait(entered)
  }
  return bytes.takeAll()
}

/** Some hosts answer `arrayBuffer()` with a view, which saves them a copy. */
function asBytes(buffer: ArrayBuffer | Uint8Array): Uint8Array {
  return buffer instanceof Uint8Array ? buffer : new Uint8Array(buffer)
}

function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError('LM-1002', `the request body is over the maxBytes of ${maxBytes} bytes`)
}
