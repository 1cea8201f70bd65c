import { UpstreamFault } from '../core/failure.ts'
import type { NetworkFailure } from '../core/network-failure.ts'
import type { UpstreamPort } from '../core/ports.ts'
import { BoundedQueue } from '../wire/bounded-queue.ts'
import { codedBodyHeaders, parseContentCoding, undecodableFailure } from '../wire/content-coding.ts'

/**
 * Calls upstreams with the global `fetch`, which has no connect timeout. It has no proxies or
 * certificate authorities for one provider either: such calls fail with `EGRESS_NOT_SUPPORTED`.
 */
export const webUpstream: UpstreamPort = async (request) => {
  if (request.egress) throw networkFault('EGRESS_NOT_SUPPORTED', 'connecting')
  // A controller of its own: `request.signal` would retain the request, with its body, until the
  // response ends.
  const { signal } = request
  const abort = new AbortController()
  const stop = () => abort.abort()
  signal.addEventListener('abort', stop)
  const unlisten = () => signal.removeEventListener('abort', stop)
  const response = await fetch(request.url, {
    method: request.method,
    headers: request.headers,
    redirect: 'manual',
    signal: abort.signal,
    ...(request.body && { body: request.body as Uint8Array<ArrayBuffer> }),
  }).catch((error: unknown) => {
    unlisten()
    throw networkFault(findReason(error))
  })
  // `fetch` cannot skip the rest of a body, so a drained connection is closed, not reused.
  const body = new BoundedQueue(request.queueLimit, { onRelease: stop, unread: request.unread })
  const coding = parseContentCoding(response.headers.get('content-encoding') ?? undefined)
  const isDecoded = coding !== undefined && decodedByFetch.has(coding)
  if (coding === undefined || isDecoded) {
    void pump(response.body, body).finally(unlisten)
  } else {
    body.fail(undecodableFailure(coding))
    unlisten()
    stop()
  }
  const isShown = (name: string) => !isDecoded || !codedBodyHeaders.has(name)
  return {
    status: response.status,
    header: (name) => (isShown(name) ? (response.headers.get(name) ?? undefined) : undefined),
    body,
  }
}

/** The codings that every `fetch` decodes. It passes the bytes of any other coding through. */
const decodedByFetch: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'deflate', 'br'])

async function pump(stream: ReadableStream<Uint8Array> | null, queue: BoundedQueue): Promise<void> {
  try {
    if (stream) for await (const bytes of stream) queue.push(bytes)
    queue.end()
  } catch (error) {
    queue.fail(networkFault(findReason(error), 'answering').failure)
  }
}

function networkFault(reason: string, phase?: NetworkFailure['phase']): UpstreamFault {
  return new UpstreamFault({ kind: 'network', reason, phase })
}

/** The code of the error's cause, which some platforms provide. */
function findReason(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' ? code : 'fetch failed'
}
