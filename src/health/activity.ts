import type { Millis } from '../core/ids.ts'
import type { Clock, UpstreamPort, UpstreamRequest, UpstreamResponse } from '../core/ports.ts'
import type { Provider } from '../core/provider.ts'

/** The calls to one provider. Times are from `Clock.elapsed`. */
interface ProviderCalls {
  /** Calls whose response has not begun. */
  waiting: number
  /** Calls whose 2xx response has begun and is not complete. */
  answering: number
  /** When the last 2xx response began or was completed. */
  answeredAt: Millis | undefined
  /** Whether the call that ended last had no complete 2xx response. */
  failed: boolean
}

/**
 * Watches the calls to providers, so that a provider that answers them is not probed as well. Some
 * servers handle one request at a time, and abort a running response when a probe arrives.
 */
export class Activity {
  readonly #clock: Clock
  /** By upstream port; a reload keeps the port of an unchanged provider. */
  readonly #calls = new WeakMap<UpstreamPort, ProviderCalls>()
  #isEnabled = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls are watched only while health checks are enabled. */
  setEnabled(isEnabled: boolean): void {
    this.#isEnabled = isEnabled
  }

  /** Returns the upstream port of one provider with its calls watched. Probes, which are GET, are not. */
  watch(send: UpstreamPort): UpstreamPort {
    const calls: ProviderCalls = { waiting: 0, answering: 0, answeredAt: undefined, failed: false }
    const watched: UpstreamPort = (request) =>
      this.#isEnabled && request.method !== 'GET' ? this.#call(calls, send, request) : send(request)
    this.#calls.set(watched, calls)
    return watched
  }

  /**
   * The time since the last 2xx response of the provider, if one is running or the last one was
   * within `interval`.
   */
  sinceLastAnswer({ send }: Provider, interval: Millis): Millis | undefined {
    const calls = this.#calls.get(send)
    if (calls?.answeredAt === undefined) return undefined
    const ago = this.#clock.elapsed() - calls.answeredAt
    return calls.answering > 0 || ago <= interval ? ago : undefined
  }

  /**
   * True while a call waits for its response and the last one succeeded: a probe could abort that
   * response. After a failed call, a waiting one proves nothing.
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

  /** The same response, with a body that reports its end. */
  #answer(
    calls: ProviderCalls,
    response: UpstreamResponse,
    { signal }: UpstreamRequest,
  ): UpstreamResponse {
    const clock = this.#clock
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
        // The reader has everything that it needs.
        drain() {
          complete()
          body.drain()
        },
      },
    }
  }
}
