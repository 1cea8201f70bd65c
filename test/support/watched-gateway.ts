import { expect, onTestFinished } from 'vitest'
import type {
  ByteSource,
  GatewayOptions,
  UpstreamPort,
  UpstreamRequest,
  UpstreamResponse,
} from '../../src/index.ts'
import { expectAccountsToBalance } from './account-check.ts'
import { oneProvider, type TestGateway, testGateway } from './gateway.ts'
import { settled } from './manual-clock.ts'
import type { MemoryStore } from './memory-store.ts'
import { ScriptedUpstream } from './scripted-upstream.ts'

export interface WatchedOptions extends Partial<GatewayOptions> {
  /** The database, if auth is enabled. */
  readonly store?: MemoryStore
}

/**
 * A test gateway that checks for leaks: after the test, no request is in flight,
 * no timer is pending, and every upstream response has been read to its end, released or aborted. With
 * auth enabled, nothing is reserved, and all spend is in the database and in the rows.
 */
export async function watchedGateway(
  config: string = oneProvider,
  { store, ...options }: WatchedOptions = {},
): Promise<TestGateway> {
  const upstream = new ScriptedUpstream()
  const watch = new UpstreamWatch(options.upstream ?? upstream.port)
  const test = await testGateway(config, {
    ...(store && { openStore: async () => store }),
    ...options,
    upstream: watch.port,
  })
  onTestFinished(async () => {
    await settled()
    expect(test.gateway.inFlight, 'requests in flight').toBe(0)
    expect(test.gateway.buffers.bytes, 'buffered bytes').toBe(0)
    const masterKey = options.env?.['GATEWAY_MASTER_KEY']
    if (store && masterKey !== undefined) {
      await expectAccountsToBalance({ ...test, store, masterKey })
    }
    expect(test.clock.pending, 'timers').toBe(0)
    expect(watch.open, 'upstream exchanges still open').toEqual([])
  })
  return { ...test, upstream }
}

/** Tracks which upstream responses the gateway still holds. */
class UpstreamWatch {
  readonly #inner: UpstreamPort
  readonly #exchanges: { readonly request: UpstreamRequest; over: boolean }[] = []

  constructor(inner: UpstreamPort) {
    this.#inner = inner
  }

  readonly port: UpstreamPort = async (request) => {
    const exchange = { request, over: false }
    this.#exchanges.push(exchange)
    const over = () => {
      exchange.over = true
    }
    try {
      return watched(await this.#inner(request), over)
    } catch (error) {
      over()
      throw error
    }
  }

  /** The URLs of the upstream responses that the gateway has not ended. */
  get open(): string[] {
    return this.#exchanges
      .filter(({ request, over }) => !over && !request.signal.aborted)
      .map(({ request }) => request.url)
  }
}

function watched(response: UpstreamResponse, over: () => void): UpstreamResponse {
  const { body } = response
  const source: ByteSource = {
    async read() {
      try {
        const bytes = await body.read()
        if (bytes === undefined) over()
        return bytes
      } catch (error) {
        over()
        throw error
      }
    },
    cancel() {
      over()
      body.cancel()
    },
    drain() {
      over()
      body.drain()
    },
  }
  return { status: response.status, header: (name) => response.header(name), body: source }
}
