import { describe, expect, test } from 'vitest'
import { CloudCredentials } from '../../src/cloud/index.ts'
import { type CloudCredential, CloudCredentialError } from '../../src/core/cloud-credential.ts'
import { type UpstreamFailure, UpstreamFault } from '../../src/core/failure.ts'
import type { LogLine } from '../support/gateway.ts'
import { ManualClock } from '../support/manual-clock.ts'

const minute = 60_000
const hour = 60 * minute

describe('a credential of a cloud', () => {
  test('64 requests share the first fetch', async () => {
    const { source, fetches, clock } = setup()
    const all = Array.from({ length: 64 }, async () => source.current())
    await clock.advance(0)
    fetches[0]?.resolve(key('one', clock.now() + hour))
    expect(new Set((await Promise.all(all)).map(({ origin }) => origin))).toEqual(new Set(['one']))
    expect(fetches).toHaveLength(1)
  })

  test('it is renewed four to five minutes before it expires, while requests use the old one', async () => {
    const { start, source, fetches, clock } = setup()
    start()
    fetches[0]?.resolve(key('one', clock.now() + hour))
    await clock.advance(56 * minute - 1)
    expect(fetches).toHaveLength(1)
    await clock.advance(1)
    expect(fetches).toHaveLength(2)
    expect(source.current()).toMatchObject({ origin: 'one' })
    fetches[1]?.resolve(key('two', clock.now() + hour))
    await clock.advance(0)
    expect(source.current()).toMatchObject({ origin: 'two' })
  })

  test('many gateways renew at different times', async () => {
    const { start, fetches, clock } = setup({ random: () => 1 })
    start()
    fetches[0]?.resolve(key('one', clock.now() + hour))
    await clock.advance(55 * minute)
    expect(fetches).toHaveLength(2)
  })

  test('one that the service still returns near its expiry is fetched again ever sooner', async () => {
    const { start, fetches, clock } = setup()
    start()
    const expiresAt = clock.now() + 4 * minute
    fetches[0]?.resolve(key('one', expiresAt))
    await clock.advance(2.4 * minute)
    fetches[1]?.resolve(key('one', expiresAt))
    await clock.advance(0.96 * minute)
    expect(fetches).toHaveLength(3)
  })

  test('one without an expiry is not renewed', async () => {
    const { start, fetches, clock } = setup()
    start()
    fetches[0]?.resolve(key('static', undefined))
    await clock.advance(1000 * hour)
    expect(fetches).toHaveLength(1)
    expect(clock.pending).toBe(0)
  })

  test('while renewals fail, the last one is used until it expires, with one warning', async () => {
    const { start, source, fetches, clock, log, failAll } = setup()
    start()
    fetches[0]?.resolve(key('one', clock.now() + hour))
    failAll('the service is away')
    await clock.advance(59 * minute)
    expect(source.current()).toMatchObject({ origin: 'one' })
    expect(log.filter(({ level }) => level !== 'debug')).toEqual([
      {
        level: 'warn',
        message: 'the credential cannot be fetched',
        fields: {
          provider: 'p',
          cloud: 'aws',
          reason: 'the service is away',
          valid_for_ms: 4 * minute,
        },
      },
    ])
    await clock.advance(minute)
    expect(await failure(async () => source.current())).toEqual({
      kind: 'no-credential',
      message: 'provider p has no AWS credential: the service is away',
    })
  })

  test('after a failure it is fetched again with waits that double up to a minute', async () => {
    const { start, fetches, clock, failAll } = setup()
    const times: number[] = []
    failAll('no', () => times.push(clock.elapsed()))
    start()
    await clock.advance(5 * minute)
    const waits = times.slice(1).map((time, at) => time - (times[at] ?? 0))
    expect(waits.slice(0, 8)).toEqual([800, 1600, 3200, 6400, 12_800, 25_600, 48_000, 48_000])
    expect(fetches).toHaveLength(times.length)
  })

  test('requests do not wait for a fetch that follows a failure', async () => {
    const { start, source, fetches, clock } = setup()
    start()
    fetches[0]?.reject(new CloudCredentialError('not yet'))
    await clock.advance(1000)
    expect(fetches).toHaveLength(2)
    expect(() => source.current()).toThrow(UpstreamFault)
    fetches[1]?.resolve(key('two', clock.now() + hour))
    await clock.advance(0)
    expect(source.current()).toMatchObject({ origin: 'two' })
  })

  test('its return after a failure is logged once', async () => {
    const { start, fetches, clock, log } = setup()
    start()
    fetches[0]?.reject(new CloudCredentialError('not yet'))
    await clock.advance(1000)
    fetches[1]?.resolve(key('AWS instance role', clock.now() + hour))
    await clock.advance(0)
    expect(log.map(({ message }) => message)).toEqual([
      'the credential cannot be fetched',
      'the credential is available again',
    ])
  })

  test('a fetch without an end fails after 20 seconds, and its calls are aborted', async () => {
    const { start, source, fetches, clock } = setup()
    start()
    const waiting = failure(async () => source.current())
    await clock.advance(20_000)
    expect(await waiting).toMatchObject({
      message: 'provider p has no AWS credential: it is not available within 20 seconds',
    })
    expect(fetches[0]?.signal.aborted).toBe(true)
  })

  test('one that has expired already is a failure', async () => {
    const { start, source, fetches, clock } = setup()
    start()
    fetches[0]?.resolve(key('old', clock.now()))
    await clock.advance(0)
    expect(source.state).toEqual({
      kind: 'failed',
      reason: 'the credential that it provides has expired',
    })
  })

  test('an unexpected error is not quoted', async () => {
    const { start, source, fetches, clock, log } = setup()
    start()
    fetches[0]?.reject(new Error('canary-secret'))
    await clock.advance(0)
    expect(JSON.stringify([source.state, log])).not.toContain('canary')
  })

  test('one that the upstream refused is replaced, once for all requests that carried it', async () => {
    const { start, source, fetches, clock } = setup()
    start()
    fetches[0]?.resolve(key('one', clock.now() + hour))
    await clock.advance(0)
    const refused = await source.current()
    source.replace(refused)
    source.replace(refused)
    const next = source.current()
    expect(fetches).toHaveLength(2)
    fetches[1]?.resolve(key('two', clock.now() + hour))
    expect(await next).toMatchObject({ origin: 'two' })
    source.replace(refused)
    expect(fetches).toHaveLength(2)
  })

  test('the secrets of the current one and of the one before are masked', async () => {
    const { start, source, fetches, clock } = setup()
    start()
    for (const [at, name] of ['one', 'two', 'three'].entries()) {
      fetches[at]?.resolve(key(name, clock.now() + hour))
      await clock.advance(56 * minute)
    }
    expect(source.secrets).toEqual(['secret of three', 'secret of two'])
  })
})

describe('the owner of the credentials', () => {
  test('a reload fetches those that stay, and stops the others', async () => {
    const { clouds, fetches, clock, open } = setup()
    const [kept, gone] = [open(), open()]
    clouds.follow([kept, gone])
    for (const fetch of fetches) fetch.resolve(key('one', clock.now() + hour))
    await clock.advance(0)
    expect(clock.pending).toBe(2)
    clouds.follow([kept])
    expect(fetches).toHaveLength(3)
    fetches[2]?.resolve(key('two', clock.now() + hour))
    await clock.advance(0)
    expect(clock.pending).toBe(1)
    expect(kept.current()).toMatchObject({ origin: 'two' })
    // A request that began before the reload may still use it.
    expect(gone.current()).toMatchObject({ origin: 'one' })
  })

  test('the end leaves no timer, also during a fetch', async () => {
    const { clouds, fetches, clock, open, log } = setup()
    clouds.follow([open(), open()])
    fetches[0]?.resolve(key('one', clock.now() + hour))
    await clock.advance(0)
    clouds.close()
    await clock.advance(0)
    expect(clock.pending).toBe(0)
    expect(fetches[1]?.signal.aborted).toBe(true)
    expect(log).toEqual([])
  })

  test('a start waits for the first fetches, at most five seconds', async () => {
    const { clouds, clock, open } = setup()
    clouds.follow([open()])
    let isSettled = false
    const settled = clouds.settle().then(() => {
      isSettled = true
    })
    await clock.advance(4999)
    expect(isSettled).toBe(false)
    await clock.advance(1)
    await settled
    clouds.close()
  })
})

interface PendingFetch {
  readonly signal: { readonly aborted: boolean }
  readonly resolve: (credential: CloudCredential) => void
  readonly reject: (error: Error) => void
}

function setup({ random = () => 0 }: { readonly random?: () => number } = {}) {
  const clock = new ManualClock()
  const log: LogLine[] = []
  const fetches: PendingFetch[] = []
  let onFetch: ((fetch: PendingFetch) => void) | undefined
  const clouds = new CloudCredentials({
    clock,
    random,
    log: {
      enabled: () => true,
      write: (level, message, fields = {}) => log.push({ level, message, fields }),
    },
    fetch: ({ signal }) =>
      new Promise((resolve, reject) => {
        const fetch = { signal, resolve, reject }
        fetches.push(fetch)
        onFetch?.(fetch)
      }),
  })
  const open = () => {
    const send = () => Promise.reject(new Error('nothing is sent'))
    const source = clouds.open({ provider: 'p', cloud: 'aws', profile: undefined, send })
    if (!source) throw new Error('the port is set')
    return source
  }
  const source = open()
  return {
    clouds,
    clock,
    log,
    fetches,
    source,
    open,
    start: () => clouds.follow([source]),
    /** Lets all further fetches fail. */
    failAll(reason: string, before = () => {}) {
      onFetch = ({ reject }) => {
        before()
        reject(new CloudCredentialError(reason))
      }
    },
  }
}

function key(name: string, expiresAt: number | undefined): CloudCredential {
  return { kind: 'access-key', id: name, secret: `secret of ${name}`, origin: name, expiresAt }
}

async function failure(work: () => Promise<unknown>): Promise<UpstreamFailure | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    return error instanceof UpstreamFault ? error.failure : undefined
  }
}
