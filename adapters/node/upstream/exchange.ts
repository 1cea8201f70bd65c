import type { Dispatcher } from 'undici'
import { UpstreamFault } from '../../../src/core/failure.ts'
import type { UpstreamRequest, UpstreamResponse } from '../../../src/index.ts'
import { BoundedQueue } from '../../../src/wire/bounded-queue.ts'
import type { Connection } from './connection.ts'
import { abortFault, faultOf, isLostSocket } from './fault.ts'
import type { Pool } from './pool.ts'

/** How long the rest of a body that nobody needs may take and be, before its connection is given up. */
const drainTime = 250
const drainBytes = 64 * 1024

/** Where an address leads. */
export interface Destination {
  readonly pool: Pool
  /** Path and query. */
  readonly path: string
}

/**
 * Sends one request and resolves at the response's headers; rejects with an `UpstreamFault`, that of
 * `find` included.
 */
export function exchange(
  request: UpstreamRequest,
  find: () => Destination,
): Promise<UpstreamResponse> {
  return new Promise((resolve, reject) => {
    new Exchange({ request, destination: find(), resolve, reject }).start()
  })
}

interface ExchangeOptions {
  readonly request: UpstreamRequest
  readonly destination: Destination
  readonly resolve: (response: UpstreamResponse) => void
  readonly reject: (fault: UpstreamFault) => void
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * One request on its way, as undici's handler of it. The body is taken as it comes, never at the
 * reader's pace: a paused parser breaks an assertion when the upstream closes, outside of every
 * promise, and would lose the end of answers that are complete.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: UpstreamRequest
  readonly #pool: Pool
  readonly #options: ExchangeOptions
  #connection: Connection | undefined
  #body: BoundedQueue | undefined
  #drainTimer: NodeJS.Timeout | undefined
  #drained = 0
  #answered = false
  #over = false

  constructor(options: ExchangeOptions) {
    this.#options = options
    this.#request = options.request
    this.#pool = options.destination.pool
  }

  start(): void {
    const { signal } = this.#request
    if (signal.aborted) return this.#options.reject(abortFault())
    signal.addEventListener('abort', this.#abort)
    this.#send(this.#pool.take())
  }

  /** undici tells handlers of the present kind by this method. */
  onRequestStart(): void {}

  /** The first byte of an answer. */
  onResponseStarted(): void {
    this.#answered = true
  }

  onResponseStart(_: unknown, status: number, headers: Headers): void {
    // Informational answers come before the real one.
    if (this.#over || status < 200) return
    const { queueLimit } = this.#request
    const body = new BoundedQueue(queueLimit, (how) => this.#release(how))
    this.#body = body
    this.#options.resolve({ status, header: (name) => headerOf(headers, name), body })
  }

  onResponseData(_: unknown, bytes: Uint8Array): void {
    if (!this.#drainTimer) return this.#body?.push(bytes)
    this.#drained += bytes.length
    if (this.#drained > drainBytes) this.#giveUp()
  }

  onResponseEnd(): void {
    const connection = this.#finish()
    if (!connection) return
    this.#pool.giveBack(connection)
    this.#body?.end()
  }

  onResponseError(_: unknown, error: unknown): void {
    if (this.#over) return
    // The upstream has closed an idle connection while the request was on its way to it.
    const isStale = this.#connection?.isReused === true && !this.#answered && isLostSocket(error)
    if (isStale) this.#resend()
    else this.#fail(faultOf(error))
  }

  /** On a new connection, so that it cannot happen twice. */
  #resend(): void {
    if (this.#connection) this.#pool.discard(this.#connection)
    this.#send(this.#pool.open())
  }

  #send(connection: Connection): void {
    const { method, headers, body = null } = this.#request
    this.#connection = connection
    const { path } = this.#options.destination
    connection.send({ method, path, headers, body }, this)
  }

  readonly #abort = () => this.#fail(abortFault())

  #fail(fault: UpstreamFault): void {
    const connection = this.#finish()
    if (!connection) return
    this.#pool.discard(connection)
    if (this.#body) this.#body.fail(fault.failure)
    else this.#options.reject(fault)
  }

  /** The reader needs no more of the body. */
  #release(how: 'cancel' | 'drain'): void {
    if (how === 'cancel') return this.#giveUp()
    this.#drainTimer = setTimeout(() => this.#giveUp(), drainTime).unref()
  }

  #giveUp(): void {
    const connection = this.#finish()
    if (connection) this.#pool.discard(connection)
  }

  /** Ends the exchange. The connection it had, the first time; after that, undefined. */
  #finish(): Connection | undefined {
    if (this.#over) return undefined
    this.#over = true
    this.#request.signal.removeEventListener('abort', this.#abort)
    clearTimeout(this.#drainTimer)
    return this.#connection
  }
}

function headerOf(headers: Headers, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'object' ? value.join(', ') : value
}
