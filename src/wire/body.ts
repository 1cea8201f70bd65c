import { GatewayError } from '../core/errors.ts'
import { UpstreamFault } from '../core/failure.ts'
import type { ByteSource, UnreadBytes } from '../core/ports.ts'
import { type BodySlot, largeBodyBytes } from './body-limiter.ts'
import { ByteList } from './byte-list.ts'

/** Up to this many bytes, the host joins the few pieces of a body itself. */
const maxSingleReadBytes = 64 * 1024

export interface ReadBodyOptions {
  /** Maximum length of the body in bytes. */
  readonly maxBytes: number
  readonly slot: BodySlot
  /** Waits for the slot. Rejects as soon as the request has ended. */
  readonly wait: (entered: Promise<void>) => Promise<void>
}

/**
 * Reads the whole body of a client's request once its slot has memory. Rejects with LM-1002 as soon as
 * the body exceeds the limit, and with `client-cancelled` when it breaks off.
 */
export async function readBody(request: Request, reading: ReadBodyOptions): Promise<Uint8Array> {
  const { maxBytes, slot, wait } = reading
  const declared = declaredLength(request)
  if (declared !== undefined && declared > maxBytes) throw tooLarge(maxBytes)
  const isSmall = declared !== undefined && declared <= maxSingleReadBytes
  if (!isSmall && !request.body) return new Uint8Array(0)
  // A body of unknown length starts as a small one.
  const entered = slot.reserve(declared ?? Math.min(maxBytes, largeBodyBytes))
  if (entered) await wait(entered)
  try {
    const bytes = isSmall
      ? asBytes(await request.arrayBuffer())
      : await readStream(request, declared, reading)
    slot.shrinkTo(bytes.length)
    return bytes
  } catch (error) {
    if (error instanceof GatewayError || error instanceof UpstreamFault) throw error
    throw new UpstreamFault({ kind: 'client-cancelled' })
  }
}

export interface CollectOptions {
  /** Maximum length of the body in bytes. */
  readonly maxBytes: number
  /** Counts the bytes read so far. */
  readonly unread: UnreadBytes
}

/** Reads the whole body of an upstream response. Rejects with `malformed` when it exceeds the limit. */
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
 * Reads the first `maxBytes` bytes of a body as text, or fewer if it breaks off, and cancels the rest. For
 * error responses, whose status matters more than their text.
 */
export async function readExcerpt(
  source: ByteSource,
  { maxBytes, unread }: { readonly maxBytes: number; readonly unread?: UnreadBytes },
): Promise<string> {
  const bytes = new ByteList()
  while (bytes.length < maxBytes) {
    const piece = await source.read().catch(() => undefined)
    if (piece === undefined) break
    bytes.push(piece)
    unread?.add(piece.length)
  }
  source.cancel()
  // A character that is cut in the middle is left out.
  return new TextDecoder().decode(bytes.takeAll().subarray(0, maxBytes), { stream: true })
}

/** Returns the declared length, or undefined when it is missing or not a whole number. */
function declaredLength({ headers }: Request): number | undefined {
  const header = headers.get('content-length')
  return header !== null && /^\d+$/.test(header) ? Number(header) : undefined
}

function readStream(
  request: Request,
  declared: number | undefined,
  reading: ReadBodyOptions,
): Promise<Uint8Array> {
  // The caller has checked that there is a body.
  const reader = (request.body as ReadableStream<Uint8Array>).getReader()
  return declared === undefined ? readCounted(reader, reading) : readDeclared(reader, declared)
}

type Reader = ReadableStreamDefaultReader<Uint8Array>

/** Reads into an array of the declared length. */
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

/** Reads a body of unknown length. It leaves the reader locked; the host discards the rest. */
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

/** Some hosts return a view from `arrayBuffer()`, which saves a copy. */
function asBytes(buffer: ArrayBuffer | Uint8Array): Uint8Array {
  return buffer instanceof Uint8Array ? buffer : new Uint8Array(buffer)
}

function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError(
    'LM-1002',
    `the request body is over the server.body_limit of ${maxBytes} bytes`,
  )
}
