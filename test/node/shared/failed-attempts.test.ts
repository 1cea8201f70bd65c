import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { completion } from '../../support/answers.ts'
import { type ClientKey, prompt, used } from '../../support/keyed-gateway.ts'
import { hasRedis, type RedisServer, startRedis } from '../../support/redis.ts'
import { json, type Responder } from '../../support/scripted-upstream.ts'
import { deferred } from '../support/servers.ts'
import { type SharingGateway, SharingGateways } from './support.ts'

/*
 * An attempt that fails and is charged takes room of the budget beside what the request has reserved, at every
 * gateway.
 */

/** Model `f` costs what its fallback `m` does. */
const config = `
[resilience]
retry_max_attempts = 1
[[providers]]
name = "failing"
kind = "openai"
base_url = "https://failing.test"
api_key_env = "P_KEY"
models = [{ id = "f", cost_per_1m_input = 1, cost_per_1m_output = 2, fallbacks = ["m"] }]
`

/** Costs what it reserves: 12,000 nano-dollars. */
const small = prompt(10, { model: 'f', max_tokens: 1 })
const reserved = 12_000
const failed = json(
  completion('', {
    choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'error' }],
    usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
  }),
)
const failure = 13_000
const good = used(10, 1)

/** An answer that comes once `release` is called. */
function heldBack(responder: Responder) {
  const gate = deferred<void>()
  const asked = deferred<void>()
  const held: Responder = async (request) => {
    asked.resolve()
    await gate.promise
    return responder(request)
  }
  return { held, asked: asked.promise, release: gate.resolve }
}

describe.skipIf(!hasRedis)('gateways that share their state', () => {
  let redis: RedisServer

  beforeAll(async () => {
    redis = await startRedis()
  })

  afterAll(() => redis.stop())

  async function two(settings = '') {
    const gateways = new SharingGateways(redis, { config, settings })
    const [first, second] = [await gateways.open(), await gateways.open()]
    return { gateways, first, second }
  }

  /** Sends a request whose first attempt waits for its answer, a failed one, and whose second one is served. */
  async function ask(gateway: SharingGateway, key: ClientKey) {
    const attempt = heldBack(failed)
    gateway.upstream.next(attempt.held, good)
    const answer = gateway.ask(key, small)
    await attempt.asked
    return { answer, release: attempt.release }
  }

  const toUsd = (nano: number) => nano / 1e9

  test.each(['key', 'group'] as const)(
    'one of two failed attempts gets the last room of the %s, wherever they were made',
    async (scope) => {
      const { gateways, first, second } = await two()
      const fields = { budget_max: toUsd(2 * reserved + 2 * failure - 1) }
      const group = scope === 'group' ? await gateways.group(fields) : undefined
      const key = await gateways.key(group ? { group_id: group } : fields)
      const asked = [await ask(first, key), await ask(second, key)]
      for (const { release } of asked) release()
      const answers = await Promise.all(asked.map(({ answer }) => answer))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 502])
      for (const shown of await gateways.show(key.id)) {
        expect(shown['budget_spent']).toBe(toUsd(2 * failure + reserved))
      }
      const lines = gateways.all.flatMap(({ log }) => log)
      const refused = lines.filter(({ message }) => /no room for another attempt/.test(message))
      expect(refused).toHaveLength(1)
    },
  )

  test('what it takes is reserved at every gateway until the request ends', async () => {
    const { gateways, first, second } = await two()
    const key = await gateways.key({ budget_max: toUsd(2 * reserved + failure - 1) })
    const next = heldBack(good)
    first.upstream.next(failed, next.held)
    const answer = first.ask(key, small)
    await next.asked
    for (const shown of await gateways.show(key.id)) {
      expect(shown['budget_reserved']).toBe(toUsd(reserved + failure))
    }
    expect((await second.ask(key, small)).status).toBe(402)
    next.release()
    expect((await answer).status).toBe(200)
    for (const shown of await gateways.show(key.id)) {
      expect(shown).toMatchObject({
        budget_reserved: 0,
        budget_spent: toUsd(failure + reserved),
      })
    }
  })

  test.each(['refuse', 'local'])(
    'while the server is away and `on_loss` is %s, the room is what this gateway knows, or none',
    async (onLoss) => {
      const { gateways, first } = await two(`on_loss = "${onLoss}"`)
      const key = await gateways.key({ budget_max: toUsd(reserved + failure) })
      const asked = await ask(first, key)
      redis.pause()
      try {
        asked.release()
        expect((await asked.answer).status).toBe(onLoss === 'local' ? 200 : 502)
      } finally {
        redis.resume()
      }
      const lines = first.log.map(({ message }) => message)
      const refused = 'the shared state cannot be used to reserve another attempt'
      expect(lines.includes(refused)).toBe(onLoss === 'refuse')
    },
  )

  test('a server that has lost its data learns of the request and of what it takes', async () => {
    const { gateways, first } = await two()
    const key = await gateways.key({ budget_max: toUsd(reserved + failure) })
    const asked = await ask(first, key)
    redis.command('FLUSHALL')
    gateways.beLong()
    asked.release()
    expect((await asked.answer).status).toBe(200)
  })
})
