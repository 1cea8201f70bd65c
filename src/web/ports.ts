import { UpstreamFault } from '../core/failure.ts'
import type { NetworkFailure } from '../core/network-failure.ts'
import {
  type Clock,
  headerEntries,
  isBuffered,
  type Log,
  type MakeResponse,
  type UpstreamPort,
} from '../core/ports.ts'
import type { StreamClasses } from '../core/streams.ts'
import { BoundedQueue } from '../wire/bounded-queue.ts'
import { codedOnly, codingIn, undecodable } from '../wire/content-coding.ts'
import { toWebStream } from '../wire/convert-stream.ts'

/*
 * Ports on nothing but web standards, for embedding where no host has better ones.
 */

/** The longest delay a timer takes; a longer one would fire at once. */
const longestDelay = 2 ** 31 - 1

export const webClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  schedule(delay, fire) {
    const timer = setTimeout(fire, Math.min(delay, longestDelay))
    return { cancel: () => clearTimeout(timer) }
  },
}

export const silentLog: Log = { enabled: () => false, write: () => {} }

/** The platform's streams. Their types accept only their own stages, and a chain has no others. */
export const webStreams = { ReadableStream, TransformStream } as unknown as StreamClasses

/** Answers of the platform's own class. */
export const webResponse: MakeResponse = (parts) => {
  const { status, body } = parts
  const streamed = body === null || isBuffered(body) ? body : toWebStream(body)
  // The types of some hosts exclude views of shared memory, which nothing here makes.
  return new Response(streamed as BodyInit | null, { status, headers: headerEntries(parts) })
}

/**
 * Upstream calls through the global `fetch`. It cannot tell a slow connect, so it has no connect
 * timeout, and it has no proxies or certificate authorities of a provider: such calls are refused.
 */
export const webUpstream: UpstreamPort = async (request) => {
  if (request.egress) throw networkFault('EGRESS_NOT_SUPPORTED', 'connecting')
  // Alone, since the request would otherwise stay, with its body, until the end of the answer.
  const { signal } = request
  const abort = new AbortController()
  const stop = () => abort.abort()
  signal.addEventListener('abort', stop)
  const over = () => signal.removeEventListener('abort', stop)
  const response = await fetch(request.url, {
    method: request.method,
    headers: request.headers,
    redirect: 'manual',
    signal: abort.signal,
    ...(request.body && { body: request.body as Uint8Array<ArrayBuffer> }),
  }).catch((error: unknown) => {
    over()
    throw networkFault(reasonOf(error))
  })
  // fetch has no way to let the rest of a body pass unread, so its connection is not used again.
  const body = new BoundedQueue(request.queueLimit, { onRelease: stop, unread: request.unread })
  const coding = codingIn(response.headers.get('content-encoding') ?? undefined)
  if (coding === undefined || decodedByFetch.has(coding)) {
    void pump(response.body, body).finally(over)
  } else {
    body.fail(undecodable(coding))
    over()
    stop()
  }
  const isShown = (name: string) => coding === undefined || !codedOnly.has(name)
  return {
    status: response.status,
    header: (name) => (isShown(name) ? (response.headers.get(name) ?? undefined) : undefined),
    body,
  }
}

/** The codings that every `fetch` decodes by itself. It hands on the bytes of others as they are. */
const decodedByFetch: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'deflate', 'br'])

async function pump(stream: ReadableStream<Uint8Array> | null, queue: BoundedQueue): Promise<void> {
  try {
    if (stream) for await (const bytes of stream) queue.push(bytes)
    queue.end()
  } catch (error) {
    queue.fail(networkFault(reasonOf(error), 'answering').failure)
  }
}

function networkFault(reason: string, phase?: NetworkFailure['phase']): UpstreamFault {
  return new UpstreamFault({ kind: 'network', reason, phase })
}

/** Some hosts say why in a code of the error's cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' ? code : 'fetch failed'
}
