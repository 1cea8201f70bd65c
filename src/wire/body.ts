import { GatewayError } from '../core/errors.ts'
import { UpstreamFault } from '../core/failure.ts'
import type { ByteSource } from '../core/ports.ts'
import { ByteList } from './byte-list.ts'

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
  const bytes = new ByteList()
  for (let piece = await source.read(); piece !== undefined; piece = await source.read()) {
    bytes.push(piece)
    if (bytes.length > limit) {
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
export async function excerpt(source: ByteSource, limit: number): Promise<string> {
  const bytes = new ByteList()
  while (bytes.length < limit) {
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

async function readCounted(body: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array> {
  const reader = body.getReader()
  const bytes = new ByteList()
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    bytes.push(next.value)
    // The reader is left locked: the host discards or ends what still comes.
    if (bytes.length > limit) throw tooLarge(limit)
  }
  return bytes.takeAll()
}

/** Some hosts answer `arrayBuffer()` with a view, which saves them a copy. */
function asBytes(buffer: ArrayBuffer | Uint8Array): Uint8Array {
  return buffer instanceof Uint8Array ? buffer : new Uint8Array(buffer)
}

function tooLarge(limit: number): GatewayError {
  return new GatewayError('LM-1002', `the request body is over the limit of ${limit} bytes`)
}
