import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openRedisState } from '../../../adapters/node/shared/redis-state.ts'
import type { GatewayOptions } from '../../../src/index.ts'
import { cachedProvider, cacheHeaders } from '../../support/cached.ts'
import { testGateway } from '../../support/gateway.ts'
import { gatewayGroup, type Member } from '../../support/gateway-group.ts'
import { masterKey, prompt, used } from '../../support/keyed-gateway.ts'
import { settled } from '../../support/manual-clock.ts'
import { hasRedis, type RedisServer, startRedis } from '../../support/redis.ts'
import { MemoryFile } from '../../support/reloading-gateway.ts'
import { SharedServer } from '../../support/shared-server.ts'

const env = { GATEWAY_MASTER_KEY: masterKey, P_KEY: 'k' }

/** The result of a request with a prompt of so many tokens. */
async function ask({ chat, upstream }: Pick<Member, 'chat' | 'upstream'>, tokens = 8, init = {}) {
  upstream.always(used(8, 1))
  return chat(prompt(tokens), init)
}

describe.skipIf(!hasRedis)('a cache that gateways share', () => {
  let redis: RedisServer
  let openShared: GatewayOptions['openShared']

  beforeAll(async () => {
    redis = await startRedis()
    openShared = (settings) => openRedisState({ ...settings, url: redis.url, prefix: 'test' })
  })

  afterAll(() => redis?.stop())

  beforeEach(() => void redis.command('flushall'))

  async function pair(settings?: string, options: Partial<GatewayOptions> = {}) {
    const group = gatewayGroup(cachedProvider(settings), { openShared, env, ...options })
    const [first, second] = [await group.open(), await group.open()]
    await expect.poll(() => redis.command('pubsub', 'numsub', '{test}:answers')).toMatch(/2$/)
    const key = await first.key()
    const isKnown = async () => {
      await second.clock.advance(250)
      return (await second.get('/v1/models', key)).status
    }
    await expect.poll(isKnown).toBe(200)
    const shown = async (member: Member, name: string) =>
      Number(
        new RegExp(`^${name} (.+)$`, 'm').exec(await (await member.get('/metrics')).text())?.[1],
      )
    /** What the cache says to a request. */
    const result = async (member: Member, tokens?: number) => {
      const response = await ask(member, tokens, key)
      await response.text()
      return cacheHeaders(response)
    }
    const stored = async (count: number) => {
      await expect.poll(() => redis.command('hlen', '{test}:answers')).toBe(String(count))
    }
    return { first, second, key, shown, result, stored }
  }

  test('an answer of one process is a hit in the others, byte for byte', async () => {
    const { first, second, key, stored, shown } = await pair()
    const miss = await ask(first, 8, key)
    const text = await miss.text()
    await stored(1)
    const hit = await ask(second, 8, key)
    expect(cacheHeaders(hit)).toEqual(['hit', '0'])
    expect(await hit.text()).toBe(text)
    expect(second.upstream.requests).toEqual([])
    expect(await shown(second, 'gateway_cache_entries')).toBe(1)
    expect(await shown(second, 'gateway_cache_bytes')).toBeGreaterThan(1024)
  })

  test('a long answer is read in pieces, byte for byte', async () => {
    const { first, second, key, stored } = await pair()
    const note = Array.from({ length: 60_000 }, (_, at) => `${at} é`).join()
    first.upstream.always(used(8, 1, { note }))
    const text = await (await first.chat(prompt(8), key)).text()
    await stored(1)
    const hit = await ask(second, 8, key)
    expect(cacheHeaders(hit)).toEqual(['hit', '0'])
    expect(await hit.text()).toBe(text)
    expect(text.length).toBeGreaterThan(400_000)
  })

  test('nothing crosses accounts', async () => {
    const { first, second, result, stored } = await pair()
    await result(first)
    await stored(1)
    const other = await second.key()
    expect(cacheHeaders(await ask(second, 8, other))).toEqual(['miss'])
  })

  test('the stored answers hold no text of a request or an answer, nor the name of an account', async () => {
    const { first, key, result, stored } = await pair()
    await result(first)
    await stored(1)
    const dump = [
      'hgetall {test}:answers',
      'zrange {test}:answers:used 0 -1',
      'keys *answers*',
    ].map((command) => redis.command(...command.split(' ')))
    for (const word of ['chatcmpl', 'prompt_tokens', 'upstream-m', key.id]) {
      expect(dump.join()).not.toContain(word)
    }
  })

  test('an altered answer, and one from another place, is a miss', async () => {
    const { first, second, result, stored } = await pair()
    await result(first, 8)
    await result(first, 9)
    await stored(2)
    const [one = '', other = ''] = redis.command('hkeys', '{test}:answers').split('\n')
    redis.command('hset', '{test}:answers', one, redis.command('hget', '{test}:answers', other))
    redis.command('hset', '{test}:answers', other, `${Date.now()}|AAAA`)
    expect(await result(second, 8)).toEqual(['miss'])
    expect(await result(second, 9)).toEqual(['miss'])
  })

  test('DELETE /admin/cache empties it for all, also of what was asked for before', async () => {
    const { first, second, key, result, stored } = await pair()
    await result(first)
    await stored(1)
    let answer = () => {}
    first.upstream.next(async (request) => {
      await new Promise<void>((resolve) => {
        answer = resolve
      })
      return used(8, 1)(request)
    })
    const asked = first.chat(prompt(9), key)
    await expect.poll(() => first.upstream.requests.length).toBe(2)
    expect((await second.admin('DELETE', '/admin/cache')).body).toEqual({ deleted: 1 })
    answer()
    await (await asked).text()
    expect(await result(second)).toEqual(['miss'])
    await stored(1)
    expect(await result(first, 9)).toEqual(['miss'])
  })

  test('a reload that changes the model finds no answer of before, in any process', async () => {
    const file = new MemoryFile('')
    const { first, second, result, stored } = await pair('', { configFile: file })
    await result(first)
    await stored(1)
    file.write(first.config.replace('upstream-m', 'upstream-n'))
    await first.gateway.reload()
    await second.gateway.reload()
    expect(await result(second)).toEqual(['miss'])
    await stored(2)
    expect(await result(first)).toEqual(['hit', '0'])
  })

  test('the answers of all processes stay below max_bytes; the one used least recently goes first', async () => {
    const { first, second, result, stored, shown } = await pair('max_bytes = 8000')
    for (let tokens = 8; tokens < 24; tokens++) await result(tokens % 2 ? first : second, tokens)
    await expect.poll(() => result(first, 23)).toEqual(['hit', '0'])
    expect(await result(second, 8)).toEqual(['miss'])
    await result(first, 23)
    const bytes = await shown(first, 'gateway_cache_bytes')
    expect(bytes).toBeGreaterThan(4000)
    expect(bytes).toBeLessThanOrEqual(8000)
    await stored(await shown(first, 'gateway_cache_entries'))
    const evicted = await Promise.all(
      [first, second].map((member) => shown(member, 'gateway_cache_evictions_total')),
    )
    expect((evicted[0] ?? 0) + (evicted[1] ?? 0)).toBeGreaterThan(10)
  })

  test.each(['answers', 'answers:used', 'answers:bytes'])(
    'when the server has evicted %s the cache begins anew',
    async (name) => {
      const { first, second, result, stored, shown } = await pair()
      await result(first, 8)
      await result(first, 9)
      await stored(2)
      const before = await shown(first, 'gateway_cache_bytes')
      redis.command('del', `{test}:${name}`)
      await result(first, 10)
      await stored(1)
      expect(await result(second, 10)).toEqual(['hit', '0'])
      expect(await shown(second, 'gateway_cache_bytes')).toBeLessThan(0.6 * before)
    },
  )

  test('an answer is served for ttl_seconds by the clock of the server', async () => {
    const { first, second, result, stored } = await pair('ttl_seconds = 1')
    await result(first)
    await stored(1)
    await expect.poll(() => redis.command('exists', '{test}:answers')).toBe('0')
    expect(await result(second)).toEqual(['miss'])
  })

  test('without auth the answers are sealed with the master key, too', async () => {
    const config = `${cachedProvider()}[shared]\nurl = "redis://a.test"`
    const first = await testGateway(config, { env, openShared })
    const second = await testGateway(config, { env, openShared })
    await (await ask(first)).text()
    await expect.poll(async () => cacheHeaders(await ask(second))).toEqual(['hit', '0'])
    for (const { gateway } of [first, second]) await gateway.close()
  })
})

describe('a cache whose server is slow or away', () => {
  test('a request waits 50 ms for the server, then asks the provider', async () => {
    const server = new SharedServer()
    server.functions.set('answer_find', () => ['0', '1', '0', '0'])
    const { open } = gatewayGroup(cachedProvider(), { server, env })
    const member = await open()
    const key = await member.key()
    const reply = server.hold()
    const asked = ask(member, 8, key)
    await member.clock.advance(49)
    expect(member.upstream.requests).toHaveLength(0)
    await member.clock.advance(1)
    expect(cacheHeaders(await asked)).toEqual(['miss'])
    reply()
  })

  test('a request waits 50 ms for each piece of a long answer', async () => {
    const server = new SharedServer()
    server.functions.set('answer_find', () => ['0', '1', '0', '0', '1', '0', '9', 'abc'])
    server.functions.set('answer_read', () => ['0', '1', '0', '0', 'def'])
    const { open } = gatewayGroup(cachedProvider(), { server, env })
    const member = await open()
    const key = await member.key()
    const replies = [server.hold()]
    const asked = ask(member, 8, key)
    for (let piece = 0; piece < 2; piece++) {
      await member.clock.advance(49)
      replies.at(-1)?.()
      replies.push(server.hold())
      await settled()
    }
    expect(member.upstream.requests).toHaveLength(0)
    await member.clock.advance(50)
    expect(cacheHeaders(await asked)).toEqual(['miss'])
    replies.at(-1)?.()
  })

  test('while the server is away every request is a miss, and the cache cannot be emptied', async () => {
    const server = new SharedServer()
    const { open } = gatewayGroup(cachedProvider(), { server, env })
    const member = await open()
    const key = await member.key()
    server.leave()
    expect(cacheHeaders(await ask(member, 8, key))).toEqual(['miss'])
    const { status, body } = await member.admin('DELETE', '/admin/cache')
    expect(status).toBe(503)
    expect(body).toMatchObject({ error: { code: 'LM-5003' } })
  })

  test('without a master key each process keeps its own answers, and says so', async () => {
    const server = new SharedServer()
    const config = `${cachedProvider()}[shared]\nurl = "redis://a.test"`
    const member = await testGateway(config, { openShared: server.open })
    expect(member.log.map(({ message }) => message)).toContain(
      'the cache is not shared: set GATEWAY_MASTER_KEY, with which answers are sealed',
    )
    await (await ask(member)).text()
    expect(cacheHeaders(await ask(member))).toEqual(['hit', '0'])
    await member.gateway.close()
  })
})
