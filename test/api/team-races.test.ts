import { describe, expect, test } from 'vitest'
import { hello, role, wholeStream } from '../support/answers.ts'
import {
  type Answer,
  type ClientKey,
  clientKey,
  errorIn,
  type KeyedGateway,
  keyedGateway,
  pricedProvider,
  prompt,
  used,
} from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { broken, json, type Responder, silent, stream } from '../support/scripted-upstream.ts'
import { randomFrom } from '../support/seeded-random.ts'

/*
 * Requests that run into each other, and into changes of the limits that hold for them. After each test
 * the gateway is checked for leaks, reservations and the sum of its rows.
 */

const config = `
[resilience]
retry_max_attempts = 1
circuit_failure_threshold = 1000
total_timeout_ms = 60000
${pricedProvider}
[[providers.models]]
id = "other"
`

/** The cost of a request that `used(8, 4)` answers, in US dollars. */
const cost = 0.000_016

/** What the upstream does with a request, and whether the request asks for a stream. */
const ends: readonly { readonly responder: Responder; readonly isStream?: true }[] = [
  { responder: used(8, 4) },
  { responder: json({ error: {} }, { status: 400 }) },
  { responder: json({ error: {} }, { status: 500 }) },
  { responder: broken() },
  { responder: stream([wholeStream]), isStream: true },
  { responder: stream([role, hello]), isStream: true },
  { responder: silent() },
  { responder: silent(), isStream: true },
]

/** Clients whose requests end in random ways after random times. */
class Crowd {
  readonly #gateway: KeyedGateway
  readonly #random: () => number
  readonly #running: Promise<number>[] = []

  constructor(gateway: KeyedGateway, seed: number, onCall: () => Promise<void>) {
    this.#gateway = gateway
    this.#random = randomFrom(seed)
    gateway.upstream.always(async (call) => {
      await onCall()
      await this.pause()
      const { user } = JSON.parse(new TextDecoder().decode(call.body)) as { user: string }
      const end = ends[Number(user)] ?? { responder: silent() }
      return end.responder(call)
    })
  }

  below(count: number): number {
    return Math.floor(this.#random() * count)
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[this.below(items.length)] ?? items[0]
  }

  async pause(): Promise<void> {
    for (let turns = this.below(4); turns > 0; turns--) await settled()
  }

  /** Sends a request; its client leaves when the upstream stays silent, and sometimes before that. */
  send({ headers }: ClientKey): void {
    const at = this.below(ends.length)
    const { isStream = false } = ends[at] ?? {}
    const leaving = new AbortController()
    const ask = async () => {
      const body = prompt(8, { user: String(at), stream: isStream })
      const response = await this.#gateway.chat(body, { headers, signal: leaving.signal })
      await response.text().catch(() => {})
      return response.status
    }
    this.#running.push(ask())
    if (at >= 6 || this.below(8) === 0) void this.pause().then(() => leaving.abort())
  }

  /** Resolves to the status of every answer. */
  async end(): Promise<readonly number[]> {
    return Promise.all(this.#running)
  }
}

/** The largest value at each place. */
class Maxima {
  readonly values: number[] = []

  add(values: readonly number[]): void {
    for (const [at, value] of values.entries()) {
      this.values[at] = Math.max(this.values[at] ?? 0, value)
    }
  }
}

async function readInFlight({ admin }: KeyedGateway, path: string): Promise<number> {
  return Number((await admin('GET', path)).body['in_flight'])
}

/** Counts the requests that are admitted at once when 64 come. */
async function countPlaces(gateway: KeyedGateway, keys: readonly ClientKey[]): Promise<number> {
  const leaving = new AbortController()
  const before = gateway.upstream.requests.length
  gateway.upstream.always(silent())
  const pending = Array.from({ length: 64 }, (_, at) => {
    const { headers } = keys[at % keys.length] ?? {}
    return gateway.chat(prompt(), { ...(headers && { headers }), signal: leaving.signal })
  })
  await settled()
  const places = gateway.upstream.requests.length - before
  leaving.abort()
  await Promise.all(pending)
  return places
}

const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status)

describe('requests at once', () => {
  test.for([1, 2, 3, 4, 5, 6, 7, 8])(
    '64 requests with random ends never exceed a limit, and leave every place free: %i',
    async (seed) => {
      const gateway = await keyedGateway(config)
      const group = await gateway.group({ max_parallel: 8 })
      const limits = [4, 6] as const
      const keys = [
        await gateway.key({ group_id: group, max_parallel: limits[0] }),
        await gateway.key({ group_id: group, max_parallel: limits[1] }),
      ] as const
      const paths = [...keys.map(({ id }) => `/admin/keys/${id}`), `/admin/groups/${group}`]
      const readAll = () => Promise.all(paths.map((path) => readInFlight(gateway, path)))
      expect(await countPlaces(gateway, keys)).toBe(8)
      const most = new Maxima()
      const crowd = new Crowd(gateway, seed, async () => most.add(await readAll()))
      for (let sent = 0; sent < 64; sent++) {
        crowd.send(crowd.pick(keys))
        if (crowd.below(3) === 0) await crowd.pause()
      }
      await crowd.end()
      await settled()
      // How many of them meet depends on the thread pool, which runs Web Crypto.
      const [first, second, both] = most.values
      expect(first).toBeLessThanOrEqual(limits[0])
      expect(second).toBeLessThanOrEqual(limits[1])
      expect(both).toBeLessThanOrEqual(8)
      expect(await readAll()).toEqual([0, 0, 0])
      expect(await countPlaces(gateway, keys)).toBe(8)
    },
  )

  test.for([11, 12, 13, 14])(
    'a key that moves between groups exceeds the limit of none and holds no place in the end: %i',
    async (seed) => {
      const gateway = await keyedGateway(config)
      const groups = [
        await gateway.group({ max_parallel: 3 }),
        await gateway.group({ max_parallel: 2 }),
      ] as const
      const key = await gateway.key({ group_id: groups[0] })
      const readGroups = () =>
        Promise.all(groups.map((id) => readInFlight(gateway, `/admin/groups/${id}`)))
      const most = new Maxima()
      const crowd = new Crowd(gateway, seed, async () => most.add(await readGroups()))
      for (let sent = 0; sent < 64; sent++) {
        crowd.send(key)
        if (crowd.below(4) > 0) continue
        const group_id = crowd.pick([...groups, null])
        const moved = gateway.admin('PATCH', `/admin/keys/${key.id}`, { group_id })
        if (crowd.below(2) === 0) await moved
        await crowd.pause()
      }
      await crowd.end()
      await settled()
      // As above.
      const [first, second] = most.values
      expect(first).toBeLessThanOrEqual(3)
      expect(second).toBeLessThanOrEqual(2)
      expect(await readGroups()).toEqual([0, 0])
      for (const [at, group_id] of groups.entries()) {
        await gateway.admin('PATCH', `/admin/keys/${key.id}`, { group_id })
        expect(await countPlaces(gateway, [key])).toBe(3 - at)
      }
    },
  )
})

describe('a budget that is reset while requests run', () => {
  const untilMidnight = 8 * 3_600_000

  test.for([21, 22, 23, 24])(
    'requests are charged to the period of their admission, and every grant counts: %i',
    async (seed) => {
      const random = randomFrom(seed)
      const gateway = await keyedGateway(config)
      const { admin, clock } = gateway
      await clock.advance(untilMidnight - 5)
      // Each request reserves 28,000 nano-dollars, so the budget holds 100 of them.
      const limits = { budget_max: 0.0028, budget_period: 'day' }
      const group = await gateway.group(limits)
      const key = await gateway.key({ ...limits, group_id: group })
      const release: (() => void)[] = []
      gateway.upstream.always(async (call) => {
        await new Promise<void>((resolve) => release.push(resolve))
        return used(8, 4)(call)
      })
      const sent: { readonly isBefore: boolean; readonly answer: Promise<Answer> }[] = []
      const grants: Promise<Answer>[] = []
      const start = clock.now()
      for (let step = 0; step < 80; step++) {
        if (step % 8 === 7) await clock.advance(1)
        const isBefore = clock.now() - start < 5
        sent.push({ isBefore, answer: gateway.ask(key, prompt(8, { max_tokens: 10 })) })
        if (random() < 0.5) grants.push(admin('POST', `/admin/keys/${key.id}/grant`, { amount: 1 }))
        if (random() < 0.5) await settled()
        if (random() < 0.5) release.shift()?.()
      }
      while (release.length > 0) {
        release.shift()?.()
        await settled()
      }
      const answers = await Promise.all(sent.map(({ answer }) => answer))
      expect(new Set(statuses(answers))).toEqual(new Set([200]))
      expect(new Set(statuses(await Promise.all(grants)))).toEqual(new Set([200]))
      const after = sent.filter(({ isBefore }) => !isBefore).length
      expect(after).toBeGreaterThan(10)
      const shown = { budget_reserved: 0, in_flight: 0 }
      const charged = {
        ...shown,
        budget_spent: expect.closeTo(after * cost, 12),
        spent_total: expect.closeTo(80 * cost, 12),
      }
      const { body } = await admin('GET', `/admin/keys/${key.id}`)
      expect(body).toMatchObject({
        ...charged,
        budget_max: expect.closeTo(grants.length + 0.0028, 9),
      })
      expect((await admin('GET', `/admin/groups/${group}`)).body).toMatchObject(charged)
    },
  )

  test('requests on both sides of the reset spend at most the cap in each period', async () => {
    const gateway = await keyedGateway(config)
    await gateway.clock.advance(untilMidnight - 1)
    const key = await gateway.key({ budget_max: 0.000_1, budget_period: 'day' })
    // Each request reserves 28,000 nano-dollars and costs 28,000: three fit.
    gateway.upstream.always(async (call) => {
      await settled()
      return used(8, 10)(call)
    })
    const ask = () => gateway.ask(key, prompt(8, { max_tokens: 10 }))
    const before = Array.from({ length: 32 }, ask)
    await gateway.clock.advance(1)
    const after = Array.from({ length: 32 }, ask)
    for (const answers of [await Promise.all(before), await Promise.all(after)]) {
      expect(statuses(answers).filter((status) => status === 200)).toHaveLength(3)
      expect(statuses(answers).filter((status) => status === 402)).toHaveLength(29)
    }
  })
})

describe('a grace period that ends while requests come', () => {
  const many = (gateway: KeyedGateway, key: ClientKey) =>
    Promise.all(Array.from({ length: 32 }, () => gateway.ask(key, prompt())))

  test('the former secret works to the last millisecond, and a stream that it began goes on', async () => {
    const gateway = await keyedGateway(config)
    const former = await gateway.key()
    const { body } = await gateway.admin('POST', `/admin/keys/${former.id}/rotate`, {
      grace_seconds: 10,
    })
    const fresh = clientKey(former.id, String(body['key']))
    let release = () => {}
    gateway.upstream.next(async (call) => {
      await new Promise<void>((resolve) => (release = resolve))
      return used(8)(call)
    })
    const running = gateway.ask(former, prompt())
    await settled()
    gateway.upstream.always(used(8))
    await gateway.clock.advance(9_999)
    const [last] = await Promise.all([many(gateway, former), gateway.clock.advance(1)])
    expect(new Set(statuses(last))).toEqual(new Set([200]))
    const [refused, admitted] = [await many(gateway, former), await many(gateway, fresh)]
    expect(new Set(statuses(refused))).toEqual(new Set([401]))
    expect(new Set(statuses(admitted))).toEqual(new Set([200]))
    release()
    expect((await running).status).toBe(200)
  })

  test('once a second rotation has answered, the first secret is refused', async () => {
    const gateway = await keyedGateway(config)
    gateway.upstream.always(used(8))
    const first = await gateway.key()
    const rotate = async () => {
      const path = `/admin/keys/${first.id}/rotate`
      const { body } = await gateway.admin('POST', path, { grace_seconds: 604_800 })
      return clientKey(first.id, String(body['key']))
    }
    const [second] = await Promise.all([rotate(), many(gateway, first)])
    const [third, during] = await Promise.all([rotate(), many(gateway, first)])
    for (const status of statuses(during)) expect([200, 401]).toContain(status)
    const expected: readonly (readonly [ClientKey, number])[] = [
      [first, 401],
      [second, 200],
      [third, 200],
    ]
    for (const [key, status] of expected) {
      expect(new Set(statuses(await many(gateway, key)))).toEqual(new Set([status]))
    }
  })
})

test.for([31, 32, 33, 34])(
  'a request is judged by a list of models that was in force while it came, and a refused one leaves no row: %i',
  async (seed) => {
    const random = randomFrom(seed)
    const gateway = await keyedGateway(config)
    const lists = [['m'], ['o*'], ['other', 'm*'], null]
    let current = lists[3]
    let next = current
    const key = await gateway.key()
    gateway.upstream.always(async (call) => {
      await settled()
      return used(8)(call)
    })
    const allows = (list: string[] | null | undefined, model: string) =>
      !list ||
      list.some((one) => (one.endsWith('*') ? model.startsWith(one[0] ?? '') : one === model))
    const checks: Promise<number>[] = []
    let change = Promise.resolve()
    for (let sent = 0; sent < 64; sent++) {
      const model = random() < 0.5 ? 'm' : 'other'
      const possible = new Set([allows(current, model), allows(next, model)])
      const ask = async () => {
        const answer = await gateway.ask(key, { ...prompt(), model })
        if (answer.status !== 200) expect(errorIn(answer)['code']).toBe('LM-4005')
        expect(possible).toContain(answer.status === 200)
        return answer.status
      }
      checks.push(ask())
      if (random() < 0.3) await settled()
      if (random() > 0.2) continue
      await change
      next = lists[Math.floor(random() * lists.length)]
      change = gateway
        .admin('PATCH', `/admin/keys/${key.id}`, { models: next })
        .then(() => void (current = next))
    }
    await change
    const served = (await Promise.all(checks)).filter((status) => status === 200).length
    expect(served).toBeLessThan(64)
    expect(gateway.upstream.requests).toHaveLength(served)
    expect(await gateway.rows()).toHaveLength(served)
  },
)
