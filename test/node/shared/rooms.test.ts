import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { HeldUpstream } from '../../support/held-upstream.ts'
import { type ClientKey, prompt } from '../../support/keyed-gateway.ts'
import { hasRedis, type RedisServer, startRedis } from '../../support/redis.ts'
import { type SharingGateway, SharingGateways, type SharingOptions } from './support.ts'

const queue = 'queue_max = 1000\nqueue_ms = 600000'
const provider = (settings: string, model = 'id = "q"') => `
  [[providers]]
  name = "q"
  kind = "openai"
  api_key_env = "P_KEY"
  ${settings}
  models = [{ ${model}, cost_per_1m_input = 1, cost_per_1m_output = 2 }]
`
const limited = (places: number, settings = queue) =>
  provider(`max_parallel = ${places}\n${settings}`)

const ask = { ...prompt(), model: 'q' }

interface Member extends SharingGateway {
  readonly held: HeldUpstream
}

describe.skipIf(!hasRedis)('room at upstreams of gateways that share their state', () => {
  let redis: RedisServer

  beforeAll(async () => {
    redis = await startRedis()
  })

  afterAll(() => redis.stop())

  async function start(config: string, sharing: SharingOptions = {}, count = 3) {
    const gateways = new SharingGateways(redis, { ...sharing, config })
    const members: Member[] = []
    let peak = 0
    const countRunning = () => members.reduce((sum, { held }) => sum + held.running.length, 0)
    for (let opened = 0; opened < count; opened++) {
      const gateway = await gateways.open()
      const onHold = () => {
        peak = Math.max(peak, countRunning())
      }
      members.push({ ...gateway, held: new HeldUpstream(gateway.upstream, onHold) })
    }
    await expect
      .poll(() => redis.command('pubsub', 'numsub', `{${gateways.prefix}}:rooms`))
      .toMatch(new RegExp(`\\n${count}$`))
    return {
      gateways,
      members,
      key: await gateways.key(),
      countRunning,
      peak: () => peak,
      async running(calls: number) {
        await expect.poll(countRunning).toBe(calls)
      },
      /** Waits until so many requests of all gateways are in the queue. */
      async waiting(requests: number) {
        const countTickets = () => redis.command('hlen', `{${gateways.prefix}}:tickets`)
        await expect.poll(countTickets).toBe(String(requests))
      },
      /** Ends the leases of a gateway that was killed. */
      endLeases() {
        for (const room of ['room:["q"]', 'tickets:leases']) {
          const name = `{${gateways.prefix}}:${room}`
          for (const id of redis.command('zrange', name, '0', '-1').split('\n')) {
            redis.command('zadd', name, 'XX', '1', id)
          }
        }
      },
    }
  }

  const answerOne = (members: readonly Member[]) =>
    members.find(({ held }) => held.running.length > 0)?.held.answerFirst()

  /** Ends one call after the other until all answers are there. */
  async function finish(members: readonly Member[], answers: readonly Promise<unknown>[]) {
    const ended = new Set<Promise<unknown>>()
    for (const answer of answers) void answer.then(() => ended.add(answer))
    while (ended.size < answers.length) {
      answerOne(members)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  test('a limit is exact under 500 callers of three gateways, and nothing is left behind', async () => {
    const { gateways, members, key, running, countRunning, peak } = await start(limited(7))
    const answers = Array.from({ length: 500 }, (_, at) =>
      (members[at % 3] as Member).ask(key, ask).then(({ status }) => status),
    )
    await running(7)
    await finish(members, answers)
    expect(new Set(await Promise.all(answers))).toEqual(new Set([200]))
    expect(peak()).toBe(7)
    expect(countRunning()).toBe(0)
    await expect.poll(() => redis.command('keys', `{${gateways.prefix}}:room:*`)).toBe('')
    expect(redis.command('keys', `{${gateways.prefix}}:queue:*`)).toBe('')
    expect(redis.command('exists', `{${gateways.prefix}}:tickets`)).toBe('0')
  })

  test('those that wait have one queue: groups have turns, whichever gateway they came to', async () => {
    const { gateways, members, key, running, waiting } = await start(limited(1))
    const [a, b, c] = members as [Member, Member, Member]
    const rare = await gateways.key()
    const urgent = await gateways.key({ priority: 'high' })
    const order: string[] = []
    let sent = -1
    const send = async (name: string, { member, by }: { member: Member; by: ClientKey }) => {
      void member.ask(by, ask).then(() => order.push(name))
      sent++
      await waiting(sent)
    }
    await send('flood', { member: a, by: key })
    await running(1)
    for (let left = 4; left > 0; left--) await send('flood', { member: left % 2 ? a : b, by: key })
    await send('rare', { member: c, by: rare })
    await send('rare', { member: a, by: rare })
    await send('urgent', { member: b, by: urgent })
    for (let left = 8; left > 0; left--) {
      await running(1)
      answerOne(members)
      await expect.poll(() => order.length).toBe(9 - left)
    }
    expect(order.join(' ')).toBe('flood urgent flood rare flood rare flood flood')
  })

  test('a client that leaves waits no longer, and takes no place', async () => {
    const { members, key, running, waiting } = await start(limited(1))
    const [a, b] = members as [Member, Member]
    const first = a.ask(key, ask)
    await running(1)
    const client = new AbortController()
    const gone = b.chat(ask, { headers: key.headers, signal: client.signal })
    await waiting(1)
    const next = a.ask(key, ask)
    await waiting(2)
    client.abort()
    expect((await gone).status).toBe(499)
    await waiting(1)
    a.held.answerFirst()
    expect((await first).status).toBe(200)
    await running(1)
    a.held.answerFirst()
    expect((await next).status).toBe(200)
    expect(b.held.total).toBe(0)
  })

  test('no more wait than queue_max over all gateways, and for no longer than queue_ms', async () => {
    const { members, key, running, waiting } = await start(
      limited(1, 'queue_max = 2\nqueue_ms = 1000'),
    )
    const [a, b, c] = members as [Member, Member, Member]
    const first = a.ask(key, ask)
    await running(1)
    const queued = [a.ask(key, ask), b.ask(key, ask)]
    await waiting(2)
    expect((await c.ask(key, ask)).status).toBe(503)
    for (const { clock } of [a, b]) await clock.advance(1000)
    for (const answer of queued) {
      const { status, headers } = await answer
      expect([status, headers.get('x-gateway-queued-ms')]).toEqual([503, '1000'])
    }
    await waiting(0)
    a.held.answerFirst()
    expect((await first).status).toBe(200)
  })

  test('the places and the queue of a gateway that was killed go to the others', async () => {
    const { members, key, running, waiting, countRunning, endLeases, peak } = await start(
      limited(2),
    )
    const [a, b, c] = members as [Member, Member, Member]
    for (let left = 2; left > 0; left--) void a.ask(key, ask)
    await running(2)
    for (let left = 3; left > 0; left--) void a.ask(key, ask)
    await waiting(3)
    a.kill()
    members.shift()
    const others = [b.ask(key, ask), c.ask(key, ask), b.ask(key, ask)]
    await waiting(6)
    expect(countRunning()).toBe(0)
    endLeases()
    for (const { clock } of [b, c]) await clock.advance(500)
    await running(2)
    await finish(members, others)
    for (const answer of others) expect((await answer).status).toBe(200)
    expect(peak()).toBe(2)
  })

  describe('a reload', () => {
    async function startWaiting(config: string, requests: number) {
      const started = await start(config)
      const { members, key, running, waiting } = started
      const answers = [members[0]?.ask(key, ask)]
      await running(1)
      for (let at = 1; at <= requests; at++) answers.push(members[at % 3]?.ask(key, ask))
      await waiting(requests)
      return {
        ...started,
        reloadAll: (next: string) => Promise.all(members.map(({ change }) => change(next))),
        async expectAll(status: number) {
          const pending = answers.flatMap((answer) => answer ?? [])
          await finish(members, pending)
          for (const answer of pending) expect((await answer).status).toBe(status)
        },
      }
    }

    test('more room lets those go that wait, less room lets nothing be cut', async () => {
      const { gateways, members, running, waiting, reloadAll, expectAll } = await startWaiting(
        limited(1),
        5,
      )
      await reloadAll(limited(3))
      await running(3)
      await waiting(3)
      await reloadAll(limited(2))
      // The server learns the limit of those that wait a moment later.
      const readTickets = () => redis.command('hvals', `{${gateways.prefix}}:tickets`)
      await expect.poll(readTickets).not.toContain(',3,1000,')
      answerOne(members)
      await waiting(3)
      await running(2)
      answerOne(members)
      await waiting(2)
      await running(2)
      await expectAll(200)
    })

    test('of one gateway lets those go that wait there, and the others by its room', async () => {
      const { members, running, waiting, expectAll } = await startWaiting(limited(1), 4)
      await members[1]?.change(limited(2))
      await running(2)
      await waiting(3)
      await expectAll(200)
    })

    test('a limit of the model that it adds holds for those that wait', async () => {
      const { members, running, waiting, reloadAll, expectAll, peak } = await startWaiting(
        limited(1),
        5,
      )
      await reloadAll(provider(`max_parallel = 5\n${queue}`, `id = "q", max_parallel = 2`))
      await running(3)
      await waiting(3)
      answerOne(members)
      answerOne(members)
      await running(2)
      await expectAll(200)
      expect(peak()).toBe(3)
    })

    test('a limit that it moves from the provider to the model is kept', async () => {
      const { running, waiting, reloadAll, expectAll } = await startWaiting(limited(1), 3)
      const inline = queue.replace('\n', ', ')
      await reloadAll(provider('', `id = "q", max_parallel = 1, ${inline}`))
      await running(2)
      await waiting(2)
      await expectAll(200)
    })

    test('those that wait go at once without the limit', async () => {
      const { running, waiting, reloadAll, expectAll } = await startWaiting(limited(1), 4)
      await reloadAll(provider(''))
      await running(5)
      await waiting(0)
      await expectAll(200)
    })

    test('those that wait keep their turns, and their time', async () => {
      const { members, waiting, running, reloadAll } = await startWaiting(
        limited(1, 'queue_max = 9\nqueue_ms = 1000'),
        2,
      )
      for (const { clock } of members) await clock.advance(600)
      // Too small for those that wait already, and shorter than they may wait.
      await reloadAll(limited(1, 'queue_max = 1\nqueue_ms = 100'))
      await waiting(2)
      for (const { clock } of members) await clock.advance(400)
      await waiting(0)
      expect(members.map(({ held }) => held.total)).toEqual([1, 0, 0])
      answerOne(members)
      await running(0)
    })
  })

  test('a message that is lost delays a request for half a second', async () => {
    const { gateways, members, key, running, waiting } = await start(limited(1))
    const [a, b] = members as [Member, Member]
    const first = a.ask(key, ask)
    await running(1)
    const second = b.ask(key, ask)
    await waiting(1)
    // Without a subscriber nothing is published to.
    redis.command('client', 'kill', 'type', 'pubsub')
    a.held.answerFirst()
    expect((await first).status).toBe(200)
    await waiting(0)
    await b.clock.advance(500)
    await running(1)
    b.held.answerFirst()
    expect((await second).status).toBe(200)
    await expect
      .poll(() => redis.command('pubsub', 'numsub', `{${gateways.prefix}}:rooms`))
      .toMatch(/3$/)
  })

  test('places survive the loss of the data of the server', async () => {
    const { gateways, members, key, running, waiting } = await start(limited(1))
    const [a, b] = members as [Member, Member]
    const first = a.ask(key, ask)
    await running(1)
    redis.command('flushall')
    gateways.beLong()
    await a.clock.advance(7_500)
    await expect.poll(() => redis.command('zcard', `{${gateways.prefix}}:room:["q"]`)).toBe('1')
    const second = b.ask(key, ask)
    await waiting(1)
    a.held.answerFirst()
    expect((await first).status).toBe(200)
    await running(1)
    b.held.answerFirst()
    expect((await second).status).toBe(200)
  })

  test('the place travels with the admission of the key', async () => {
    const { gateways, members, running } = await start(limited(5), {}, 1)
    const [a] = members as [Member]
    const key = await gateways.key({ max_parallel: 9 })
    /** Sends a request, and returns how often functions ran on the server before its call. */
    const count = async (model: string) => {
      redis.command('config', 'resetstat')
      const read = () =>
        Number(/fcall:calls=(\d+)/.exec(redis.command('info', 'commandstats'))?.[1])
      const answer = a.ask(key, { ...prompt(), model })
      await running(1)
      const before = read()
      a.held.answerFirst()
      expect((await answer).status).toBe(200)
      return before
    }
    await count('m')
    // A renewal of places may come between.
    const least = async (model: string) =>
      Math.min(await count(model), await count(model), await count(model))
    expect(await least('q')).toBe(await least('m'))
  })

  test('status and explain show what all gateways have taken', async () => {
    const { members, key, running, waiting } = await start(limited(1))
    const [a, b, c] = members as [Member, Member, Member]
    const answers = [a.ask(key, ask)]
    await running(1)
    answers.push(b.ask(key, ask))
    await waiting(1)
    const taken = { max_parallel: 1, running: 1, queue_max: 1000, waiting: 1 }
    expect((await c.admin('GET', '/admin/status'))['rooms']).toEqual([
      { provider: 'q', model: null, ...taken },
    ])
    a.held.answerFirst()
    await running(1)
    b.held.answerFirst()
    for (const answer of answers) expect((await answer).status).toBe(200)
  })
})

describe.skipIf(!hasRedis)('room at upstreams while the server is away', () => {
  test.each([
    ['refuse', 0],
    ['local', 2],
  ])('with on_loss = "%s" each gateway makes %i calls', async (onLoss, calls) => {
    const redis = await startRedis()
    // Behind the checks of the gateways: the last one runs first.
    onTestFinished(() => redis.stop())
    const gateways = new SharingGateways(redis, {
      settings: `on_loss = "${onLoss}"`,
      config: limited(2, ''),
    })
    const [a, b] = [await gateways.open(), await gateways.open()]
    const key = await gateways.key()
    const held = [new HeldUpstream(a.upstream), new HeldUpstream(b.upstream)]
    await redis.stop()
    await expect
      .poll(async () => await (await a.get('/metrics')).text())
      .toContain('gateway_shared_state_up 0')
    await expect
      .poll(async () => await (await b.get('/metrics')).text())
      .toContain('gateway_shared_state_up 0')
    const answers = [a, a, a, b, b, b].map((one) => one.ask(key, ask))
    await expect.poll(() => held.map(({ running }) => running.length)).toEqual([calls, calls])
    for (const one of held) while (one.running.length > 0) one.answerFirst()
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(calls * 2)
    expect(statuses.filter((status) => status === 503)).toHaveLength(6 - calls * 2)
    await redis.start()
    await expect
      .poll(async () => await (await a.get('/metrics')).text())
      .toContain('gateway_shared_state_up 1')
    gateways.beLong()
  })
})
