import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { UpstreamFault } from '../../../src/core/failure.ts'
import { type NetworkFailure, toProxyReason } from '../../../src/core/network-failure.ts'
import type { UpstreamRequest, UpstreamResponse } from '../../../src/index.ts'
import { BoundedQueue } from '../../../src/wire/bounded-queue.ts'
import {
  codedBodyHeaders,
  parseContentCoding,
  undecodableFailure,
} from '../../../src/wire/content-coding.ts'
import { runAtEndOfTurn } from '../process/end-of-turn.ts'
import { type BodyDecoder, type BodySink, createBodyDecoder } from './body-decoder.ts'
import type { UpstreamConnection } from './connection.ts'
import { abortFault, isLostSocket, toUpstreamFault } from './errors.ts'
import type { Pool } from './pool.ts'
import type { Proxy } from './proxy.ts'
import { isLongBody, ReleasingBody } from './releasing-body.ts'

/** Limits for draining an unneeded rest of a body, in milliseconds and bytes; beyond them, disconnect. */
const drainTimeout = 250
const maxDrainBytes = 64 * 1024

/**
 * A reused connection that is lost within this time, in milliseconds, had been closed while idle. After
 * that the upstream has probably started to process the request.
 */
const staleWindow = 1_000

/** Where the requests for a URL go. */
export interface Destination {
  readonly pool: Pool
  /** Path and query; the absolute URL if `proxy` is set. */
  readonly path: string
  /** The proxy that forwards each request, for http upstreams, which have no tunnel. */
  readonly proxy?: Proxy | undefined
}

/** Returns the destination of `url` through a pool. */
export function toDestination(url: URL, proxy: Proxy | undefined, pool: Pool): Destination {
  const { protocol, origin, pathname, search } = url
  const path = pathname + search
  return proxy && protocol === 'http:' ? { pool, path: origin + path, proxy } : { pool, path }
}

/**
 * Sends one request and resolves when the response headers arrive. Rejects with an `UpstreamFault`,
 * including one that `find` throws.
 */
export function sendRequest(
  request: UpstreamRequest,
  find: () => Destination,
): Promise<UpstreamResponse> {
  return new Promise((resolve, reject) => {
    new UpstreamDispatch(request, { destination: find(), resolve, reject }).start()
  })
}

interface UpstreamDispatchOptions {
  readonly destination: Destination
  readonly resolve: (response: UpstreamResponse) => void
  readonly reject: (fault: UpstreamFault) => void
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * One running request, as a dispatch handler of undici. It never pauses the body for a slow reader: if
 * the upstream closes while undici's parser is paused, an assertion fails outside of every promise, and
 * the end of a complete response is lost.
 */
class UpstreamDispatch implements Dispatcher.DispatchHandler {
  /** The number of requests that have not ended. */
  static #running = 0
  #request: UpstreamRequest
  readonly #pool: Pool
  readonly #options: UpstreamDispatchOptions
  #connection: UpstreamConnection | undefined
  #sentAt = 0
  #sink: BodySink | undefined
  #decoder: BodyDecoder | undefined
  #drainTimer: NodeJS.Timeout | undefined
  #drained = 0
  #hasAnswered = false
  #isOver = false

  constructor(request: UpstreamRequest, options: UpstreamDispatchOptions) {
    this.#options = options
    this.#request = request
    this.#pool = options.destination.pool
  }

  start(): void {
    const { signal } = this.#request
    if (signal.aborted) return this.#options.reject(abortFault())
    signal.addEventListener('abort', this.#abort)
    UpstreamDispatch.#running++
    this.#send(this.#pool.acquire())
  }

  /** undici recognizes handlers of its current interface by this method. */
  onRequestStart(): void {}

  /** The first byte of the response has arrived. */
  onResponseStarted(): void {
    this.#hasAnswered = true
  }

  onResponseStart(_: unknown, status: number, headers: Headers): void {
    // Informational responses precede the final one.
    if (this.#isOver || status < 200) return
    const { proxy } = this.#options.destination
    if (status === 407 && proxy) return this.#fail(createProxyFault(proxy, status))
    const { queueLimit: limit, unread, signal } = this.#request
    const queue = new BoundedQueue(limit, { onRelease: (how) => this.#release(how), unread })
    const coding = parseContentCoding(readHeader(headers, 'content-encoding'))
    if (coding !== undefined) {
      const giveUp = () => this.#giveUp()
      this.#decoder = createBodyDecoder(coding, { queue, maxWaitingBytes: limit, signal, giveUp })
    }
    this.#sink = this.#decoder ?? queue
    const isDecoded = this.#decoder !== undefined
    const header = (name: string) =>
      isDecoded && codedBodyHeaders.has(name) ? undefined : readHeader(headers, name)
    const resolve = () => this.#options.resolve({ status, header, body: queue })
    runAtEndOfTurn(resolve, UpstreamDispatch.#running)
    this.#forgetBody()
    if (coding !== undefined && !this.#decoder)
      this.#fail(new UpstreamFault(undecodableFailure(coding)))
  }

  onResponseData(_: unknown, bytes: Uint8Array): void {
    if (!this.#drainTimer) return this.#sink?.push(bytes)
    this.#drained += bytes.length
    if (this.#drained > maxDrainBytes) this.#giveUp()
  }

  onResponseEnd(): void {
    const connection = this.#finish()
    if (!connection) return
    this.#pool.release(connection)
    this.#sink?.end()
  }

  onResponseError(_: unknown, error: unknown): void {
    if (this.#isOver) return
    if (this.#isStale(error) && this.#request.mayResend?.() !== false) this.#resend()
    else this.#fail(toUpstreamFault(error, this.#phase))
  }

  get #phase(): NetworkFailure['phase'] {
    return this.#sink ? 'answering' : 'waiting'
  }

  /** True if the upstream closed an idle connection while the request was on its way. */
  #isStale(error: unknown): boolean {
    if (!this.#connection?.isReused || this.#hasAnswered || !isLostSocket(error)) return false
    return performance.now() - this.#sentAt < staleWindow
  }

  /** Sends the request again on a new connection, so that this cannot happen twice. */
  #resend(): void {
    if (this.#connection) this.#pool.discard(this.#connection)
    this.#send(this.#pool.openConnection())
  }

  #send(connection: UpstreamConnection): void {
    const { method, body } = this.#request
    const { path, proxy } = this.#options.destination
    this.#connection = connection
    this.#sentAt = performance.now()
    const headers = addProxyHeader(proxy, this.#request)
    if (!isLongBody(body))
      return connection.send({ method, path, headers, body: body ?? null }, this)
    const length = { 'content-length': String(body.length) }
    // undici accepts any iterable, which its type omits.
    const passing: unknown = new ReleasingBody(body)
    const sent = { method, path, headers: { ...headers, ...length }, body: passing as Readable }
    connection.send(sent, this)
  }

  /** Releases the body: after the response headers the request is never sent again. */
  #forgetBody(): void {
    if (!isLongBody(this.#request.body)) return
    this.#request = { ...this.#request, body: undefined, mayResend: undefined }
  }

  readonly #abort = () => this.#fail(abortFault())

  #fail(fault: UpstreamFault): void {
    const connection = this.#finish()
    if (!connection) return
    this.#pool.discard(connection)
    if (this.#sink) this.#sink.fail(fault.failure)
    else this.#options.reject(fault)
  }

  /** Handles a reader that needs no more of the body. */
  #release(how: 'cancel' | 'drain'): void {
    this.#decoder?.close()
    if (how === 'cancel') return this.#giveUp()
    this.#drainTimer = setTimeout(() => this.#giveUp(), drainTimeout).unref()
  }

  #giveUp(): void {
    const connection = this.#finish()
    if (connection) this.#pool.discard(connection)
  }

  /** Ends the request. Returns its connection on the first call and undefined on later ones. */
  #finish(): UpstreamConnection | undefined {
    if (this.#isOver) return undefined
    this.#isOver = true
    UpstreamDispatch.#running--
    this.#request.signal.removeEventListener('abort', this.#abort)
    clearTimeout(this.#drainTimer)
    return this.#connection
  }
}

function addProxyHeader(
  proxy: Proxy | undefined,
  { headers }: UpstreamRequest,
): UpstreamRequest['headers'] {
  const authorization = proxy?.authorization
  return authorization === undefined
    ? headers
    : { ...headers, 'proxy-authorization': authorization }
}

function createProxyFault({ name }: Proxy, status: number): UpstreamFault {
  const reason = toProxyReason(status)
  return new UpstreamFault({ kind: 'network', reason, phase: 'connecting', proxy: name })
}

function readHeader(headers: Headers, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'object' ? value.join(', ') : value
}
