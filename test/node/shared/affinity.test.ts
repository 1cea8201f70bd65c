import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openRedisState } from '../../../adapters/node/shared/redis-state.ts'
import { providerKey } from '../../support/gateway.ts'
import { masterKey, prompt, used } from '../../support/keyed-gateway.ts'
import { settled } from '../../support/manual-clock.ts'
import { addPins } from '../../support/pins-model.ts'
import { hasRedis, type RedisServer, startRedis } from '../../support/redis.ts'
import { SharedServer } from '../../support/shared-server.ts'
import { type SharingGateway, SharingGateways } from './support.ts'

const keys = { A: 'canary-key-of-a', B: 'canary-key-of-b', C: 'canary-key-of-c' }
const config = `
  [[providers]]
  name = "q"
  kind = "openai"
  api_key_envs = ["A", "B", "C"]
  models = [{ id = "q" }]
`
const options = { env: { P_KEY: providerKey, GATEWAY_MASTER_KEY: masterKey, ...keys } }

describe.skipIf(!hasRedis)('the pins of gateways that share their state', () => {
  let redis: RedisServer

  beforeAll(async () => {
    redis = await startRedis()
  })

  afterAll(() => redis.stop())

  async function start() {
    const gateways = new SharingGateways(redis, { config, options })
    const first = await gateways.open()
    const key = await gateways.key({ rpm_limit: 1000 })
    const ask = async ({ chat, upstream }: SharingGateway, session: string) => {
      upstream.always(used(10, 1))
      const headers = { ...key.headers, 'x-gateway-session': session }
      expect((await chat({ ...prompt(10), model: 'q' }, { headers })).status).toBe(200)
      return upstream.requests.at(-1)?.headers['authorization']
    }
    return { gateways, first, ask }
  }

  test('a gateway that starts later learns them with the admission of a key with a limit', async () => {
    const { gateways, first, ask } = await start()
    const served = []
    for (const session of ['1', '2', '3', '4']) served.push(await ask(first, session))
    expect(new Set(served).size).toBe(3)
    const second = await gateways.open()
    const again = []
    for (const session of ['4', '3', '2', '1']) again.push(await ask(second, session))
    expect(again.reverse()).toEqual(served)
  })

  test('the pin travels with the admission, and the next request sees the last one', async () => {
    const { gateways, first, ask } = await start()
    const second = await gateways.open()
    const served = await ask(first, 's')
    for (let at = 0; at < 6; at++) expect(await ask(at % 2 ? first : second, 's')).toBe(served)
    const calls = redis.command('info', 'commandstats')
    expect(calls).not.toMatch(/pin_read/)
  })

  test('a server replies and publishes what the model of the tests does', async () => {
    const log = { enabled: () => false, write() {} }
    const state = await openRedisState({ url: redis.url, prefix: 'pins', log })
    onTestFinished(() => state.close())
    const model = new SharedServer()
    addPins(model, () => 0)
    const modelled = await model.open()
    const published: string[] = []
    const expected: string[] = []
    state.subscribe('pins', (message) => published.push(message))
    await expect.poll(() => redis.command('pubsub', 'numsub', '{pins}:pins')).toMatch(/1$/)
    modelled.subscribe('pins', (message) => expected.push(message))
    const versions = new Map([['0', 0]])
    const call = async (name: string, args: readonly unknown[]) => {
      const [, , ...reply] = await state.batch({ name, args: () => args })
      const seen = typeof args[1] === 'number' ? toModel(versions, args[1]) : args[1]
      const [, , ...own] = await modelled.batch({
        name,
        args: () => [args[0], seen, ...args.slice(2)],
      })
      if (reply[0] !== undefined) versions.set(String(reply[0]), Number(own[0]))
      expect(reply[2]).toBe(own[2])
      return Number(reply[0])
    }
    const day = 86_400_000
    expect(await call('pin_read', ['k'])).toBeNaN()
    const one = await call('pin_write', ['k', 0, day, '["a",[["p","K \\"1\\""]]]'])
    expect(await call('pin_write', ['k', 0, day, '["b",[]]'])).toBe(one)
    const two = await call('pin_write', ['k', one, day, '["b",[]]'])
    expect(two).toBeGreaterThan(one)
    expect(await call('pin_write', ['k', one, day, '["c",[]]'])).toBe(two)
    expect(await call('pin_write', ['k', 0, 2 * day, '["b",[]]'])).toBe(two)
    expect(await call('pin_read', ['k'])).toBe(two)
    expect(await call('pin_read', ['other'])).toBeNaN()
    await settled()
    const shorten = (text: string) => text.replace(/^(\w+) \d+/, '$1')
    await expect.poll(() => published.map(shorten)).toEqual(expected.map(shorten))
    expect(published).toHaveLength(3)
  })
})

function toModel(versions: ReadonlyMap<string, number>, version: number): number {
  return versions.get(String(version)) ?? 0
}
