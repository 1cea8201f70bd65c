import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { done, hello, role, wholeStream } from '../../support/answers.ts'
import { errorIn, prompt, used } from '../../support/keyed-gateway.ts'
import { settled } from '../../support/manual-clock.ts'
import { hasRedis, type RedisServer, startRedis } from '../../support/redis.ts'
import { LiveUpstream, silent } from '../../support/scripted-upstream.ts'
import { streamed } from '../../support/stream-client.ts'
import { awayFromMinuteEnd } from '../support/minutes.ts'
import { timed } from '../support/servers.ts'
import {
  expectToBalance,
  type SharingGateway,
  SharingGateways,
  type SharingOptions,
} from './support.ts'

/** Lets the clocks of the gateways go on until something is done. */
async function whileTimePasses<Result>(
  { all }: SharingGateways,
  work: Promise<Result>,
): Promise<Result> {
  const progress = { isDone: false }
  void work.finally(() => {
    progress.isDone = true
  })
  while (!progress.isDone) for (const { clock } of all) await clock.advance(1)
  return work
}

/** A request that costs what it reserves: 12,000 nano-dollars. */
const small = prompt(10, { max_tokens: 1 })
const usual = used(10, 1)
const price = 0.000012

const webhooks =
  '[webhooks]\nurl = "https://hooks.test"\nevents = ["budget.threshold", "budget.exhausted"]'

/** Lets the upstream of each gateway answer requests and receive events. Returns what has been received. */
function receiveEvents({ all }: SharingGateways): () => unknown[] {
  const received: unknown[] = []
  for (const { upstream } of all) {
    upstream.always(async (request) => {
      if (request.url.startsWith('https://hooks')) {
        const { type, threshold } = JSON.parse(new TextDecoder().decode(request.body))
        received.push(threshold ?? type)
      }
      return usual(request)
    })
  }
  return () => [...received]
}

describe.skipIf(!hasRedis)('gateways that share their state', () => {
  let redis: RedisServer

  beforeAll(async () => {
    redis = await startRedis()
  })

  afterAll(() => redis.stop())

  /** Two gateways of one database. */
  async function two(sharing?: SharingOptions) {
    const gateways = new SharingGateways(redis, sharing)
    const [first, second] = [await gateways.open(), await gateways.open()]
    return { gateways, first, second }
  }

  test('requests a minute are counted over all of them, exactly', async () => {
    const { gateways, first, second } = await two()
    await awayFromMinuteEnd(5_000)
    const key = await gateways.key({ rpm_limit: 7 })
    for (const { upstream } of gateways.all) upstream.always(usual)
    const asked = Array.from({ length: 20 }, (_, at) =>
      (at % 2 ? first : second).ask(key, prompt()),
    )
    const answers = await Promise.all(asked)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7)
    const refused = answers.filter(({ status }) => status === 429)
    expect(new Set(refused.map((answer) => errorIn(answer)['code']))).toEqual(new Set(['LM-4002']))
    expect(refused[0]?.headers.get('x-ratelimit-remaining-requests')).toBe('0')
    const remaining = answers.map(({ headers }) => headers.get('x-ratelimit-remaining-requests'))
    expect(new Set(remaining)).toEqual(new Set(['6', '5', '4', '3', '2', '1', '0']))
  })

  test('a budget is granted once, and every gateway shows the same spend', async () => {
    const { gateways, first, second } = await two()
    const group = await gateways.group({ budget_max: 5 * price })
    const key = await gateways.key({ group_id: group })
    for (const { upstream } of gateways.all) upstream.always(usual)
    const ask = (at: number) => (at % 2 ? first : second).ask(key, small)
    const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => ask(at)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
    const refused = answers.find(({ status }) => status === 402)
    expect(refused && errorIn(refused)).toMatchObject({ code: 'LM-4001', scope: 'group' })
    for (const shown of await gateways.show(group, 'groups')) {
      expect(shown['budget_spent']).toBe(0.00006)
    }
  })

  test('a running stream takes its place everywhere, to its end', async () => {
    const { gateways, first, second } = await two()
    const key = await gateways.key({ max_parallel: 1 })
    const live = new LiveUpstream()
    first.upstream.next(live.responder)
    live.push(role + hello)
    const response = await first.chat(streamed(), { headers: key.headers })
    expect(errorIn(await second.ask(key, prompt()))['code']).toBe('LM-4006')
    live.push(wholeStream + done)
    await response.text()
    second.upstream.always(usual)
    await expect.poll(async () => (await second.ask(key, prompt())).status).toBe(200)
  })

  test('a percentage of a budget fires once, in the gateway that passes it', async () => {
    const { gateways, first, second } = await two({ config: webhooks })
    const key = await gateways.key({ budget_max: 10 * price })
    const events = receiveEvents(gateways)
    for (let at = 0; at < 10; at++) {
      await (at % 2 ? first : second).ask(key, small)
    }
    await Promise.all([first.ask(key, prompt()), second.ask(key, prompt())])
    await settled()
    await expect.poll(() => events().sort()).toEqual([50, 80, 95, 'budget.exhausted'])
  })

  test('a raised cap counts at once, and arms what it has left behind', async () => {
    const { gateways, first, second } = await two()
    const key = await gateways.key({ budget_max: 2 * price })
    for (const { upstream } of gateways.all) upstream.always(usual)
    const ask = (gateway: SharingGateway) => gateway.ask(key, small)
    expect([(await ask(first)).status, (await ask(second)).status]).toEqual([200, 200])
    expect((await ask(first)).status).toBe(402)
    await second.admin('POST', `/admin/keys/${key.id}/grant`, { amount: price })
    await gateways.reload()
    expect([(await ask(first)).status, (await ask(second)).status]).toEqual([200, 402])
  })

  test('a request that is explained counts nowhere', async () => {
    const { gateways, first, second } = await two()
    const key = await gateways.key({ rpm_limit: 1 })
    const question = { path: '/v1/chat/completions', body: prompt(), key_id: key.id }
    const explain = async (gateway: SharingGateway) =>
      (await gateway.admin('POST', '/admin/explain', question))['admission']
    expect(await explain(first)).toMatchObject({ verdict: 'admitted' })
    first.upstream.always(usual)
    expect((await first.ask(key, prompt())).status).toBe(200)
    expect(await explain(second)).toMatchObject({ verdict: 'refused', code: 'LM-4002' })
  })

  describe('what is past', () => {
    const day = 86_400_000

    /** Returns the time to live of what the server has of a subject; -1 without an end. */
    function timesToLive({ prefix }: SharingGateways, subject: string): number[] {
      return [subject, `${subject}:by`].map((name) =>
        Number(redis.command('PTTL', `{${prefix}}:${name}`)),
      )
    }

    /** Lets the gateways renew their leases until the server has these times to live. */
    async function expectTimes(
      gateways: SharingGateways,
      subject: string,
      times: readonly unknown[],
    ): Promise<void> {
      await expect
        .poll(async () => {
          for (const { clock } of gateways.all) await clock.advance(7_500)
          return timesToLive(gateways, subject)
        })
        .toEqual(times)
    }

    const endless = [-1, -1]
    const toEnd = [day, day].map(() => expect.closeTo(day, -5))

    async function usedKey(gateways: SharingGateways, fields: object = {}) {
      const key = await gateways.key({ budget_max: 1, ...fields })
      for (const gateway of gateways.all) {
        gateway.upstream.always(usual)
        expect((await gateway.ask(key, small)).status).toBe(200)
      }
      await settled()
      return key
    }

    test('a deleted key and a deleted group are forgotten a day later', async () => {
      const { gateways, first } = await two()
      const group = await gateways.group({ budget_max: 1 })
      const { id } = await usedKey(gateways, { group_id: group })
      await expectTimes(gateways, `key:${id}`, endless)
      await first.admin('DELETE', `/admin/keys/${id}`)
      await first.admin('DELETE', `/admin/groups/${group}`)
      await gateways.reload()
      await expectTimes(gateways, `key:${id}`, toEnd)
      await expectTimes(gateways, `group:${group}`, toEnd)
    })

    test('the end of a late request is counted, and the day begins again', async () => {
      const { gateways, first, second } = await two()
      const key = await usedKey(gateways)
      const live = new LiveUpstream()
      first.upstream.next(live.responder)
      live.push(role + hello)
      const response = await first.chat(streamed(), { headers: key.headers })
      await second.admin('DELETE', `/admin/keys/${key.id}`)
      await gateways.reload()
      await expectTimes(gateways, `key:${key.id}`, toEnd)
      for (const name of [`key:${key.id}`, `key:${key.id}:by`]) {
        redis.command('PEXPIRE', `{${gateways.prefix}}:${name}`, '5000')
      }
      live.push(wholeStream + done)
      await response.text()
      await expectTimes(gateways, `key:${key.id}`, toEnd)
    })

    test('an expired key is forgotten, unless it gets another end', async () => {
      const { gateways, first } = await two()
      // By the clock of the server, which is that of the system, it is over.
      const expires_at = Math.floor(first.clock.now() / 1_000) + 1_000
      const key = await usedKey(gateways, { expires_at })
      await expectTimes(gateways, `key:${key.id}`, toEnd)
      const later = Math.floor(Date.now() / 1_000) + 7_200
      await first.admin('PATCH', `/admin/keys/${key.id}`, { expires_at: later })
      await gateways.reload()
      expect((await first.ask(key, small)).status).toBe(200)
      await expectTimes(gateways, `key:${key.id}`, endless)
    })

    test('what comes back after a loss of data is forgotten too', async () => {
      const { gateways, first } = await two()
      const { id } = await usedKey(gateways)
      await first.admin('DELETE', `/admin/keys/${id}`)
      await gateways.reload()
      await expectTimes(gateways, `key:${id}`, toEnd)
      redis.command('FLUSHALL')
      // A renewal finds the server empty, and sends all shares.
      const [, sharesEnd] = toEnd
      await expectTimes(gateways, `key:${id}`, [-2, sharesEnd])
      gateways.beLong()
      await whileTimePasses(gateways, first.admin('GET', '/admin/keys?include_deleted=true'))
      await expectTimes(gateways, `key:${id}`, toEnd)
    })
  })

  describe('while the server is away', () => {
    /** Runs with a server that answers nothing. */
    async function paused(run: () => Promise<void>): Promise<void> {
      redis.pause()
      try {
        await run()
      } finally {
        redis.resume()
      }
    }

    test('a key without limits is served as ever, and its spend arrives later', async () => {
      const { gateways, first, second } = await two()
      const key = await gateways.key()
      for (const { upstream } of gateways.all) upstream.always(usual)
      await paused(async () => {
        for (const gateway of [first, second, first]) {
          const asked = gateway.ask(key, prompt())
          expect(await timed(asked)).toBeLessThan(500)
          expect((await asked).status).toBe(200)
        }
      })
      await expect
        .poll(async () => (await gateways.show(key.id)).map((shown) => shown['spent_total']))
        .toEqual([0.000036, 0.000036])
    })

    test('a key with limits gets 503 LM-5003 within two seconds, and no refused request counts', async () => {
      const { gateways, first, second } = await two()
      await awayFromMinuteEnd(10_000)
      const key = await gateways.key({ rpm_limit: 3, max_parallel: 1, budget_max: 1 })
      for (const { upstream } of gateways.all) upstream.always(usual)
      expect((await first.ask(key, prompt())).status).toBe(200)
      await paused(async () => {
        const asked = Promise.all(
          Array.from({ length: 30 }, (_, at) => (at % 2 ? first : second).ask(key, prompt())),
        )
        expect(await timed(asked)).toBeLessThan(2_000)
        const answers = await asked
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]))
        const [refused] = answers
        expect(refused && errorIn(refused)['code']).toBe('LM-5003')
        expect(refused?.headers.get('retry-after')).toBe('1')
        expect(first.upstream.requests).toHaveLength(1)
      })
      await expect.poll(async () => (await second.ask(key, prompt())).status).toBe(200)
      expect((await first.ask(key, prompt())).status).toBe(200)
      expect((await first.ask(key, prompt())).status).toBe(429)
    })

    test('a connection that the server cuts costs no request, and none counts twice', async () => {
      const { gateways, first, second } = await two()
      await awayFromMinuteEnd(10_000)
      const key = await gateways.key({ rpm_limit: 1_000, max_parallel: 30, budget_max: 1 })
      for (const { upstream } of gateways.all) upstream.always(usual)
      const ask = (at: number) => (at % 2 ? first : second).ask(key, small)
      expect((await ask(0)).status).toBe(200)
      for (let round = 0; round < 5; round++) {
        const running = Array.from({ length: 6 }, (_, at) => ask(at))
        redis.command('CLIENT', 'KILL', 'TYPE', 'normal')
        const late = Array.from({ length: 6 }, (_, at) => ask(at))
        const both = Promise.all([...running, ...late])
        expect(await timed(both)).toBeLessThan(1_000)
        expect((await both).map(({ status }) => status)).toEqual(Array(12).fill(200))
      }
      const answer = await ask(0)
      // 61 requests before this one.
      expect(answer.headers.get('x-ratelimit-remaining-requests')).toBe('938')
      await expect
        .poll(() => redis.command('GET', `{${gateways.prefix}}:key:${key.id}`))
        .toContain('"running":0')
    })

    test('a server that has gone is waited for half a second at most', async () => {
      const own = await startRedis()
      onTestFinished(() => own.stop())
      const gateways = new SharingGateways(own)
      const gateway = await gateways.open()
      const key = await gateways.key({ budget_max: 1 })
      gateway.upstream.always(usual)
      expect((await gateway.ask(key, small)).status).toBe(200)
      await own.stop()
      const asked = gateway.ask(key, small)
      expect(await timed(asked)).toBeLessThan(1_000)
      expect((await asked).status).toBe(503)
      expect(await timed(gateway.ask(key, small))).toBeLessThan(100)
      await own.start()
      await expect
        .poll(async () => (await whileTimePasses(gateways, gateway.ask(key, small))).status)
        .toBe(200)
    })

    test('with on_loss = "local" each gateway goes on with what it knew last', async () => {
      const { gateways, first, second } = await two({ settings: 'on_loss = "local"' })
      const key = await gateways.key({ budget_max: 5 * price })
      for (const { upstream } of gateways.all) upstream.always(usual)
      const ask = (gateway: SharingGateway) => gateway.ask(key, small)
      for (const gateway of [first, second]) expect((await ask(gateway)).status).toBe(200)
      await gateways.show(key.id)
      await paused(async () => {
        const statuses: number[] = []
        for (let at = 0; at < 4; at++) statuses.push((await ask(first)).status)
        expect(statuses).toEqual([200, 200, 200, 402])
        expect((await ask(second)).status).toBe(200)
      })
      await expect
        .poll(async () => (await gateways.show(key.id)).map((shown) => shown['budget_spent']))
        .toEqual([0.000072, 0.000072])
      await expect.poll(async () => (await ask(second)).status).toBe(402)
    })

    test('with on_loss = "local" alerts fire while the server is away, and not again when it is back', async () => {
      const settings = 'on_loss = "local"'
      const { gateways, first, second } = await two({ settings, config: webhooks })
      const key = await gateways.key({ budget_max: 10 * price })
      const events = receiveEvents(gateways)
      for (let at = 0; at < 6; at++) await (at % 2 ? first : second).ask(key, small)
      await expect.poll(events).toEqual([50])
      await gateways.show(key.id)
      await paused(async () => {
        for (let at = 0; at < 4; at++) expect((await first.ask(key, small)).status).toBe(200)
        for (let at = 0; at < 2; at++) expect((await first.ask(key, small)).status).toBe(402)
        await expect.poll(events).toEqual([50, 80, 95, 'budget.exhausted'])
      })
      await expect
        .poll(async () => (await gateways.show(key.id)).map((shown) => shown['budget_spent']))
        .toEqual([10 * price, 10 * price])
      // The server refuses now, and knows of no alert before.
      expect((await first.ask(key, small)).status).toBe(402)
      await settled()
      expect(events()).toEqual([50, 80, 95, 'budget.exhausted'])
    })
  })

  describe('a server that has lost its data', () => {
    test('knows all spend and all reservations again', async () => {
      const { gateways, first, second } = await two()
      const key = await gateways.key({ budget_max: 5 * price, max_parallel: 2 })
      for (const { upstream } of gateways.all) upstream.always(usual)
      const ask = (gateway: SharingGateway) => gateway.ask(key, small)
      for (const gateway of [first, second, first]) expect((await ask(gateway)).status).toBe(200)
      // Some of the spend is in the database, and one request is running.
      await first.clock.advance(20_000)
      expect((await ask(second)).status).toBe(200)
      first.upstream.next(silent())
      const running = ask(first)
      await expect.poll(() => first.upstream.requests.length).toBe(3)
      redis.command('FLUSHALL')
      redis.command('FUNCTION', 'FLUSH')
      await expect
        .poll(async () => errorIn(await whileTimePasses(gateways, ask(second))))
        .toMatchObject({
          code: 'LM-4001',
          budget_spent: 0.000048,
          reserved: price,
        })
      first.gateway.drain()
      await running
    })

    test('does not keep a request beyond its end when a renewal has restored it', async () => {
      const { gateways, first } = await two()
      const key = await gateways.key({ budget_max: 5 * price })
      first.upstream.next(silent())
      const running = first.ask(key, small)
      await expect.poll(() => first.upstream.requests.length).toBe(1)
      redis.command('FLUSHALL')
      // The first call that finds the server empty is the renewal.
      await first.clock.advance(7_500)
      const show = () => whileTimePasses(gateways, gateways.show(key.id))
      const held = { in_flight: 1, budget_reserved: price }
      await expect.poll(show).toMatchObject([held, held])
      first.gateway.drain()
      await running
      const ended = { in_flight: 0, budget_reserved: 0 }
      await expect.poll(show).toMatchObject([ended, ended])
    })
  })

  describe('a gateway that dies', () => {
    const lease = 'lease_ms = 1000'

    /** Lets a gateway die with a running request, and the others notice it. */
    async function dieWith(fields: object, sharing: SharingOptions) {
      const { gateways, first, second } = await two(sharing)
      const key = await gateways.key(fields)
      first.upstream.next(silent())
      void first.ask(key, prompt(10, { max_tokens: 10 }))
      await expect.poll(() => first.upstream.requests.length).toBe(1)
      first.kill()
      second.upstream.always(usual)
      return { gateways, key, first, second }
    }

    test('leaves requests that are charged as reserved, with a row', async () => {
      const fields = { budget_max: 0.000042, max_parallel: 1 }
      const { gateways, key, second } = await dieWith(fields, { settings: lease })
      const ask = () => second.ask(key, small)
      expect(errorIn(await ask())['code']).toBe('LM-4006')
      await expect.poll(async () => (await ask()).status).toBe(200)
      await expect
        .poll(async () => errorIn(await ask()))
        .toMatchObject({ code: 'LM-4001', reserved: 0 })
      await expectToBalance(gateways)
      expect(gateways.store.usage).toEqual(
        expect.arrayContaining([
          expect.objectContaining({
            keyId: key.id,
            status: 500,
            errorCode: 'LM-6002',
            estimated: true,
            cost: 30_000n,
            model: 'm',
            api: 'chat',
          }),
        ]),
      )
    })

    test('leaves nothing with on_lost_hold = "release"', async () => {
      const fields = { budget_max: 0.000042, max_parallel: 1 }
      const settings = `${lease}\non_lost_hold = "release"`
      const { gateways, key, second } = await dieWith(fields, { settings })
      const ask = () => second.ask(key, small)
      await expect.poll(async () => (await ask()).status).toBe(200)
      expect(await gateways.show(key.id)).toMatchObject([{ budget_spent: price }])
    })

    test('and was only slow is not charged twice', async () => {
      const { gateways, first, second } = await two({ settings: lease })
      const key = await gateways.key({ budget_max: 1, max_parallel: 1 })
      const live = new LiveUpstream()
      first.upstream.next(live.responder)
      live.push(role + hello)
      const response = await first.chat(streamed({ max_tokens: 10 }), { headers: key.headers })
      second.upstream.always(usual)
      await expect.poll(async () => (await second.ask(key, prompt())).status).toBe(200)
      const id = response.headers.get('x-request-id')
      const listLost = () =>
        gateways.store.usage.filter(
          ({ requestId, errorCode }) => requestId === id && errorCode === 'LM-6002',
        )
      await expect
        .poll(async () => {
          await second.clock.advance(2_000)
          return listLost().length
        })
        .toBe(1)
      live.push(wholeStream + done)
      await response.text()
      await expect
        .poll(async () => {
          await expectToBalance(gateways)
          return listLost().length
        })
        .toBe(2)
      expect(listLost().reduce((sum, { cost }) => sum + cost, 0n)).toBe(0n)
    })
  })
})
