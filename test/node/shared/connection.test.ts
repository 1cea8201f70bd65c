import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openRedisState } from '../../../adapters/node/shared/redis-state.ts'
import { findServerProblem } from '../../../adapters/node/shared/server-check.ts'
import { type BatchedCall, type SharedState, SharedStateFault } from '../../../src/index.ts'
import { RecordingLog } from '../../accounting/support.ts'
import { hasRedis, type RedisServer, startRedis } from '../../support/redis.ts'
import { timed } from '../support/servers.ts'
import { httpsServer } from '../support/tls.ts'

/** Connects to a server until the test ends. */
async function open(url: string, log = new RecordingLog()): Promise<SharedState> {
  const state = await openRedisState({ url, prefix: 'test', log })
  onTestFinished(() => state.close())
  return state
}

/** Returns the message with which opening fails. */
async function problemOf(url: string): Promise<string> {
  const fault = await open(url).catch((error: unknown) => error)
  expect(fault).toBeInstanceOf(SharedStateFault)
  return (fault as SharedStateFault).message
}

/** Resolves when a call has failed. */
async function failOf(state: SharedState): Promise<void> {
  await expect(state.call('beat', [])).rejects.toThrow(SharedStateFault)
}

function readPage(): string {
  return readFileSync('docs/shared-state.md', 'utf8')
}

/** Returns a server of its own, which ends with the test. */
async function ownServer(...options: readonly string[]): Promise<RedisServer> {
  const server = await startRedis(...options)
  onTestFinished(() => server.stop())
  return server
}

describe.skipIf(!hasRedis)('the connection to a Redis server', () => {
  let redis: RedisServer

  beforeAll(async () => {
    redis = await startRedis()
  })

  afterAll(() => redis.stop())

  test('a function is called by its name, and answers with the time of the server', async () => {
    const state = await open(redis.url)
    const [now] = await state.call('beat', [])
    expect(Math.abs(Number(now) - Date.now())).toBeLessThan(5_000)
    expect(state.isUp).toBe(true)
  })

  test('every key is below the prefix, in one slot of a cluster', async () => {
    redis.command('FLUSHALL')
    const state = await open(redis.url)
    await state.call('beat', [])
    expect(redis.command('KEYS', '*')).toBe('{test}:beat')
  })

  test('functions that are gone are loaded again', async () => {
    const state = await open(redis.url)
    redis.command('FUNCTION', 'FLUSH')
    expect(await state.call('beat', [])).toHaveLength(1)
  })

  describe('calls of functions for accounts', () => {
    const begin = (epoch: string): BatchedCall => ({ name: 'open', args: () => ['process', epoch] })
    const settlement: BatchedCall = {
      name: 'settle',
      args: () => ['process', [], []],
      canWait: true,
    }

    /** Returns which functions a server has run since the last call, the first one first. */
    function listRuns(server: RedisServer): string[] {
      const lines = server.command('SLOWLOG', 'GET', '-1').split('\n')
      server.command('SLOWLOG', 'RESET')
      const names = lines.flatMap((line) => /^gateway_[0-9a-f]{16}_(\w+)$/.exec(line)?.[1] ?? [])
      return names.filter((name) => name !== 'beat').reverse()
    }

    async function openLogged() {
      const server = await ownServer('--slowlog-log-slower-than', '0')
      const state = await open(server.url)
      return { server, state }
    }

    test('those of one turn run in their order, as one command', async () => {
      const { server, state } = await openLogged()
      const replies = await Promise.all([state.batch(begin('first')), state.batch(begin('second'))])
      expect(replies.map(([, epoch]) => epoch)).toEqual(['first', 'first'])
      expect(listRuns(server)).toEqual(['batch'])
    })

    test('one that can wait runs before the next one, or soon by itself', async () => {
      const { server, state } = await openLogged()
      const [, epoch] = await state.batch(settlement)
      expect(epoch).toBe('')
      expect(listRuns(server)).toEqual(['settle'])
      const waiting = state.batch(settlement)
      await new Promise((resolve) => setImmediate(resolve))
      const [[, before], [, after]] = await Promise.all([waiting, state.batch(begin('first'))])
      expect([before, after]).toEqual(['', 'first'])
      expect(listRuns(server)).toEqual(['batch'])
    })

    test('one that fails leaves the others alone', async () => {
      const { state } = await openLogged()
      const wrong: BatchedCall = { name: 'settle', args: () => ['process', [[]], []] }
      const [failed, done] = await Promise.allSettled([
        state.batch(wrong),
        state.batch(begin('first')),
      ])
      expect(failed.status).toBe('rejected')
      expect(done.status).toBe('fulfilled')
    })

    test('a full server runs those that free memory', async () => {
      const { server, state } = await openLogged()
      server.command('CONFIG', 'SET', 'maxmemory', '1')
      const [settled, begun] = await Promise.allSettled([
        state.batch(settlement),
        state.batch(begin('first')),
      ])
      expect(settled.status).toBe('fulfilled')
      expect(begun.status === 'rejected' && String(begun.reason)).toContain('OOM')
    })
  })

  test('a message reaches all processes with the prefix', async () => {
    const [one, other] = [await open(redis.url), await open(redis.url)]
    const received: string[] = []
    for (const state of [one, other]) {
      state.subscribe('news', (message) => received.push(message))
    }
    await expect
      .poll(async () => {
        await one.publish('news', 'hello')
        return received.length
      })
      .toBeGreaterThanOrEqual(2)
    expect(new Set(received)).toEqual(new Set(['hello']))
  })

  test('a server that pauses costs one call a second and fails the later ones at once, and comes back by itself', async () => {
    const log = new RecordingLog()
    const state = await open(redis.url, log)
    let comebacks = 0
    state.onUp(() => comebacks++)
    redis.pause()
    try {
      expect(await timed(failOf(state))).toBeLessThan(1_500)
      expect(state.isUp).toBe(false)
      expect(await timed(failOf(state))).toBeLessThan(100)
    } finally {
      redis.resume()
    }
    await expect.poll(() => state.isUp).toBe(true)
    expect(await state.call('beat', [])).toHaveLength(1)
    expect(comebacks).toBe(1)
    expect(log.lines.map(({ message }) => message)).toEqual([
      'the shared state is not available',
      'the shared state is available again',
    ])
  })

  test('a server that is idle and pauses is noticed without a call', async () => {
    const state = await open(redis.url)
    redis.pause()
    try {
      await expect.poll(() => state.isUp).toBe(false)
    } finally {
      redis.resume()
    }
    await expect.poll(() => state.isUp).toBe(true)
  })

  test('a server that does not run yet is connected to when it starts', async () => {
    const late = await ownServer()
    await late.stop()
    const state = await open(late.url)
    expect(state.isUp).toBe(false)
    await late.start()
    await expect.poll(() => state.isUp).toBe(true)
  })

  test('a full server refuses, and is used again when it has room', async () => {
    const full = await ownServer()
    const state = await open(full.url)
    full.command('CONFIG', 'SET', 'maxmemory', '1')
    await expect(state.call('beat', [])).rejects.toThrow('OOM')
    expect(state.isUp).toBe(false)
    full.command('CONFIG', 'SET', 'maxmemory', '0')
    await expect.poll(() => state.isUp).toBe(true)
  })

  test('a read-only server refuses, and is used again as a primary', async () => {
    const replica = await ownServer()
    const state = await open(replica.url)
    replica.command('REPLICAOF', '127.0.0.1', String(redis.port))
    await expect.poll(() => state.isUp).toBe(false)
    replica.command('REPLICAOF', 'NO', 'ONE')
    await expect.poll(() => state.isUp).toBe(true)
  })

  test('a wrong password, a missing one and a missing permission end the start', async () => {
    const locked = await ownServer(
      '--requirepass',
      'canary-secret',
      '--user',
      ...'weak on >p ~* +info'.split(' '),
    )
    const { port } = locked
    expect(await problemOf(`redis://:canary-wrong@127.0.0.1:${port}`)).toContain('WRONGPASS')
    expect(await problemOf(locked.url)).toContain('NOAUTH')
    expect(await problemOf(`redis://weak:p@127.0.0.1:${port}`)).toContain('NOPERM')
    expect((await open(`redis://:canary-secret@127.0.0.1:${port}`)).isUp).toBe(true)
  })

  test('the user of the documentation has all permissions that it needs', async () => {
    const [rule = ''] = /(?<=ACL SETUSER )gateway[^`]+/.exec(readPage()) ?? []
    redis.command('ACL', 'SETUSER', ...rule.split(' '))
    const url = `redis://gateway:password@127.0.0.1:${redis.port}`
    const state = await openRedisState({ url, prefix: 'gateway', log: new RecordingLog() })
    onTestFinished(() => state.close())
    const received: string[] = []
    state.subscribe('epoch', (epoch) => received.push(epoch))
    await expect
      .poll(async () => {
        redis.command('DEL', '{gateway}:epoch')
        await state.batch({ name: 'open', args: () => ['process', 'new'] })
        return received.length
      })
      .toBeGreaterThan(0)
  })

  test('a server that may evict any key ends the start', async () => {
    const evicting = await ownServer('--maxmemory-policy', 'allkeys-lru')
    expect(await problemOf(evicting.url)).toContain('maxmemory-policy allkeys-lru')
  })

  test('a certificate that is not trusted ends the start', async () => {
    const { port } = await httpsServer(() => {})
    expect(await problemOf(`rediss://localhost:${port}`)).toContain('UNABLE_TO_VERIFY')
  })
})

test.each([
  ['redis_version:6.2.14', 'Redis 6.2.14 is too old'],
  ['redis_version:7.2.4\r\nvalkey_version:7.1.0', 'Valkey 7.1.0 is too old'],
  ['redis_version:7.0.15\r\nmaxmemory_policy:allkeys-random', 'allkeys-random'],
  ['redis_version:7.0.15\r\nmaxmemory_policy:noeviction', undefined],
  ['redis_version:8.4.0\r\nmaxmemory_policy:volatile-lru', undefined],
  ['redis_version:7.2.4\r\nvalkey_version:8.1.1', undefined],
])('%j', (info, problem) => {
  const found = findServerProblem(info)
  if (problem === undefined) expect(found).toBeUndefined()
  else expect(found).toContain(problem)
})
