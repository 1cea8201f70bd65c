import { GatewayError, invalid } from '../core/errors.ts'
import { UpstreamFault } from '../core/failure.ts'
import type { ByteSource } from '../core/ports.ts'

/**
 * The whole body of a client's request. A body over `limit` bytes is refused with LM-1002, and is
 * not read any further; one that breaks off ends as `client-cancelled`.
 */
export async function readBody(request: Request, limit: number): Promise<Uint8Array> {
  const declared = declaredLength(request)
  if (declared !== undefined && declared > limit) throw tooLarge(limit)
  if (!request.body) return new Uint8Array(0)
  try {
    // A declared length is enforced by the host, so the quick way cannot pass the limit unseen.
    const bytes =
      declared === undefined
        ? await readCounted(request.body, limit)
        : asBytes(await request.arrayBuffer())
    if (bytes.length > limit) throw tooLarge(limit)
    return bytes
  } catch (error) {
    if (error instanceof GatewayError) throw error
    throw new UpstreamFault({ kind: 'client-cancelled' })
  }
}

/** The whole of an upstream's body, up to `limit` bytes; a longer one is a malformed answer. */
export async function collect(source: ByteSource, limit: number): Promise<Uint8Array> {
  const first = await source.read()
  if (first === undefined) return new Uint8Array(0)
  const pieces = [first]
  let length = first.length
  for (let piece = await source.read(); piece !== undefined; piece = await source.read()) {
    pieces.push(piece)
    length += piece.length
    if (length > limit) {
      source.cancel()
      throw new UpstreamFault({ kind: 'malformed', detail: 'the answer is too long' })
    }
  }
  return pieces.length === 1 ? first : concat(pieces, length)
}

/**
 * The first `limit` bytes of a body as text, or what has come when it breaks off; the rest is not
 * waited for. For error answers: their status has said the most already.
 */
export async function excerpt(source: ByteSource, limit: number): Promise<string> {
  const pieces: Uint8Array[] = []
  let length = 0
  while (length < limit) {
    const piece = await source.read().catch(() => undefined)
    if (piece === undefined) break
    pieces.push(piece)
    length += piece.length
  }
  source.cancel()
  return new TextDecoder().decode(concat(pieces, length))
}

/** One array of all pieces. */
export function concat(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The value of a JSON request body; LM-1001 for anything but UTF-8 that holds a JSON object. */
export function parseObject(bytes: Uint8Array): object {
  if (bytes.length === 0) throw invalid('the request body is empty; send a JSON object')
  let text: string
  try {
    text = strictUtf8.decode(bytes)
  } catch {
    throw invalid('the request body is not valid UTF-8')
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalid('the request body is not valid JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('the request body must be a JSON object')
  }
  return value
}

/** A length that is no whole number is none, so the bytes are counted. */
function declaredLength({ headers }: Request): number | undefined {
  const header = headers.get('content-length')
  return header !== null && /^\d+$/.test(header) ? Number(header) : undefined
}

async function readCounted(body: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array> {
  const reader = body.getReader()
  const pieces: Uint8Array[] = []
  let length = 0
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    length += next.value.length
    // The reader is left locked: the host discards or ends what still comes.
    if (length > limit) throw tooLarge(limit)
    pieces.push(next.value)
  }
  return concat(pieces, length)
}

/** Some hosts answer `arrayBuffer()` with a view, which saves them a copy. */
function asBytes(buffer: ArrayBuffer | Uint8Array): Uint8Array {
  return buffer instanceof Uint8Array ? buffer : new Uint8Array(buffer)
}

function tooLarge(limit: number): GatewayError {
  return new GatewayError('LM-1002', `the request body is over the limit of ${limit} bytes`)
}
