import { type UpstreamFailure, UpstreamFault } from '../../src/core/failure.ts'
import type { UnreadBytes } from '../../src/core/ports.ts'
import type { UpstreamPort, UpstreamRequest, UpstreamResponse } from '../../src/index.ts'
import { BoundedQueue } from '../../src/wire/bounded-queue.ts'

export type Responder = (request: UpstreamRequest) => Promise<UpstreamResponse>

/** An upstream that plays scripted responses and records the requests. */
export class ScriptedUpstream {
  readonly requests: UpstreamRequest[] = []
  #script: Responder[] = []
  #always: Responder | undefined

  /** The responders of the next calls, in order. */
  next(...responders: Responder[]): this {
    this.#script.push(...responders)
    return this
  }

  /** The responder after the end of the script. */
  always(responder: Responder): this {
    this.#always = responder
    return this
  }

  readonly port: UpstreamPort = (request) => {
    this.requests.push(request)
    const responder = this.#script.shift() ?? this.#always
    if (!responder) throw new Error(`nothing is scripted for call ${this.requests.length}`)
    return responder(request)
  }

  /** Returns the JSON body of a call; by default the last one. */
  body(index = this.requests.length - 1): unknown {
    return JSON.parse(this.text(index))
  }

  /** Returns the raw body of a call; by default the last one. */
  text(index = this.requests.length - 1): string {
    return new TextDecoder().decode(this.requests[index]?.body)
  }
}

interface Head {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** A complete JSON response. */
export function json(value: unknown, head: Head = {}): Responder {
  return whole(JSON.stringify(value), head)
}

/** A complete response with this text or these bytes. */
export function whole(
  body: string | Uint8Array,
  { status = 200, headers = {} }: Head = {},
): Responder {
  return async (request) => {
    const queue = new BoundedQueue(request.queueLimit, { unread: request.unread })
    queue.push(bytes(body))
    queue.end()
    return respond(status, { 'content-type': 'application/json', ...headers }, queue)
  }
}

/** An event stream with these network chunks and a clean end or `failure`. */
export function stream(
  chunks: readonly (string | Uint8Array)[],
  { status = 200, headers = {}, failure }: Head & { readonly failure?: UpstreamFailure } = {},
): Responder {
  return async (request) => {
    const queue = new BoundedQueue(request.queueLimit, { unread: request.unread })
    for (const chunk of chunks) queue.push(bytes(chunk))
    if (failure) queue.fail(failure)
    else queue.end()
    return respond(status, { 'content-type': 'text/event-stream', ...headers }, queue)
  }
}

/** An event stream that the test writes to. */
export class LiveUpstream {
  readonly #queue: BoundedQueue
  #unread: UnreadBytes | undefined
  /** Chunks that are available before the call. */
  #early = 0
  /** How the gateway released the stream, if it has. */
  released: 'cancel' | 'drain' | undefined

  constructor(limit = 8 * 1024 * 1024) {
    this.#queue = new BoundedQueue(limit, {
      onRelease: (how) => {
        this.released = how
      },
      unread: {
        add: (change) => {
          this.#early += change
          this.#unread?.add(change)
        },
        release: () => this.#unread?.release(),
      },
    })
  }

  readonly responder: Responder = async ({ unread }) => {
    this.#unread = unread
    unread?.add(this.#early)
    return respond(200, { 'content-type': 'text/event-stream' }, this.#queue)
  }

  push(chunk: string | Uint8Array): void {
    this.#queue.push(bytes(chunk))
  }

  end(): void {
    this.#queue.end()
  }

  fail(failure: UpstreamFailure): void {
    this.#queue.fail(failure)
  }
}

/** A call that fails before any response. */
export function broken(
  failure: UpstreamFailure = { kind: 'network', reason: 'ECONNREFUSED' },
): Responder {
  return async () => {
    throw new UpstreamFault(failure)
  }
}

/** A call without a response that ends when the gateway aborts it. */
export function silent(): Responder {
  return ({ signal }) =>
    new Promise((_, reject) => {
      const abort = () => reject(new UpstreamFault({ kind: 'network', reason: 'aborted' }))
      signal.addEventListener('abort', abort)
    })
}

function respond(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: BoundedQueue,
): UpstreamResponse {
  return { status, header: (name) => headers[name], body }
}

function bytes(chunk: string | Uint8Array): Uint8Array {
  return typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
}
