import type { Millis } from '../core/ids.ts'
import type { Clock, UpstreamPort, UpstreamRequest, UpstreamResponse } from '../core/ports.ts'
import type { Provider } from '../core/provider.ts'

/** What the calls to one provider show of it. Times are on the clock that never jumps. */
interface ProviderCalls {
  /** Calls that no answer has come to yet. */
  waiting: number
  /** Good answers that have begun and are not over. */
  answering: number
  /** When the last good answer began, or was complete. */
  answeredAt: Millis | undefined
  /** The last call to end got no good answer. */
  failed: boolean
}

export interface ActivityOptions {
  readonly clock: Clock
  /** Health checks are on. Without them calls are not watched. */
  readonly isWanted: () => boolean
}

/**
 * Watches the calls to providers, so that a provider that answers them is not probed as well: some
 * servers do one thing at a time, and end the answer that they are giving for a probe.
 */
export class Activity {
  readonly #options: ActivityOptions
  /** By the port that they go through, which a reload keeps for a provider that has not changed. */
  readonly #calls = new WeakMap<UpstreamPort, ProviderCalls>()

  constructor(options: ActivityOptions) {
    this.#options = options
  }

  /** A port of one provider that does what `send` does and is watched. Probes are GET, and no calls. */
  watch(send: UpstreamPort): UpstreamPort {
    const { isWanted } = this.#options
    const calls: ProviderCalls = { waiting: 0, answering: 0, answeredAt: undefined, failed: false }
    const watched: UpstreamPort = (request) =>
      isWanted() && request.method !== 'GET' ? this.#call(calls, send, request) : send(request)
    this.#calls.set(watched, calls)
    return watched
  }

  /**
   * How long ago the last good answer of the provider was, if one is under way or was within
   * `interval`; milliseconds.
   */
  sinceLastAnswer({ send }: Provider, interval: Millis): Millis | undefined {
    const calls = this.#calls.get(send)
    if (calls?.answeredAt === undefined) return undefined
    const ago = this.#options.clock.elapsed() - calls.answeredAt
    return calls.answering > 0 || ago <= interval ? ago : undefined
  }

  /**
   * A call waits for its answer, and nothing speaks against one. A probe could cut that answer off as
   * it begins. After a call that got no answer, waiting proves nothing.
   */
  isExpectingAnswer({ send }: Provider): boolean {
    const calls = this.#calls.get(send)
    return calls !== undefined && calls.waiting > 0 && !calls.failed
  }

  async #call(
    calls: ProviderCalls,
    send: UpstreamPort,
    request: UpstreamRequest,
  ): Promise<UpstreamResponse> {
    calls.waiting++
    let isGood = false
    try {
      const response = await send(request)
      isGood = response.status >= 200 && response.status < 300
      return isGood ? this.#answer(calls, response, request) : response
    } finally {
      calls.waiting--
      if (!isGood) calls.failed = true
    }
  }

  /** The answer with a body whose end is noticed, however it comes. */
  #answer(
    calls: ProviderCalls,
    response: UpstreamResponse,
    { signal }: UpstreamRequest,
  ): UpstreamResponse {
    const { clock } = this.#options
    const { body } = response
    let isOver = false
    const end = () => {
      if (isOver) return
      isOver = true
      signal.removeEventListener('abort', end)
      calls.answering--
    }
    const complete = () => {
      if (isOver) return
      calls.answeredAt = clock.elapsed()
      calls.failed = false
      end()
    }
    calls.answering++
    calls.answeredAt = clock.elapsed()
    signal.addEventListener('abort', end)
    return {
      status: response.status,
      header: (name) => response.header(name),
      body: {
        async read() {
          try {
            const bytes = await body.read()
            if (bytes === undefined) complete()
            return bytes
          } catch (error) {
            calls.failed = true
            end()
            throw error
          }
        },
        cancel() {
          end()
          body.cancel()
        },
        // The reader has all of it.
        drain() {
          complete()
          body.drain()
        },
      },
    }
  }
}
