import { describe, expect, test } from 'vitest'
import { done, hello, role, stop } from '../support/answers.ts'
import {
  type ClientKey,
  errorIn,
  type KeyedGateway,
  keyedGateway,
  pricedProvider,
  prompt,
  used,
} from '../support/keyed-gateway.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { json, LiveUpstream } from '../support/scripted-upstream.ts'
import { streamed } from '../support/stream-client.ts'

const hour = 3_600_000
/** Eight hours before a Tuesday; the month ends six days later. */
const start = Date.UTC(2025, 10, 24, 16)
const seconds = (millis: number) => millis / 1000
const tuesday = seconds(Date.UTC(2025, 10, 25))
const nextMonday = seconds(Date.UTC(2025, 11, 1))

async function gatewayAt(time = start) {
  const clock = new ManualClock(time)
  const gateway = await keyedGateway(pricedProvider, { clock })
  return { ...gateway, clock }
}

const show = async ({ admin }: KeyedGateway, { id }: Pick<ClientKey, 'id'>) =>
  (await admin('GET', `/admin/keys/${id}`)).body

/** Spends 8,000 nano-dollars. */
async function spend(gateway: KeyedGateway, key: ClientKey): Promise<number> {
  gateway.upstream.next(used(8))
  return (await gateway.ask(key, prompt(8, { max_tokens: 1 }))).status
}

describe('a budget with a period', () => {
  test.each([
    ['day', tuesday],
    ['week', nextMonday],
    ['month', nextMonday],
  ])('each %s it starts again from 0, and the total goes on', async (period, resetsAt) => {
    const gateway = await gatewayAt()
    const key = await gateway.key({ budget_max: 0.000012, budget_period: period })
    expect(await spend(gateway, key)).toBe(200)
    expect(await show(gateway, key)).toMatchObject({
      budget_period: period,
      budget_spent: 0.000008,
      budget_resets_at: resetsAt,
      spent_total: 0.000008,
    })
    await gateway.clock.advance(resetsAt * 1000 - start - 1)
    expect(await spend(gateway, key)).toBe(402)
    await gateway.clock.advance(1)
    expect(await show(gateway, key)).toMatchObject({ budget_spent: 0, spent_total: 0.000008 })
    expect(await spend(gateway, key)).toBe(200)
    const { budget_resets_at: next, ...after } = await show(gateway, key)
    expect(after).toMatchObject({ budget_spent: 0.000008, spent_total: 0.000016 })
    expect(next).toBeGreaterThan(resetsAt)
  })

  test('the 402 says when the budget is reset, and Retry-After is the time until then', async () => {
    const gateway = await gatewayAt(start + 500)
    const group = await gateway.group({ budget_max: 0, budget_period: 'day' })
    const refused = await gateway.ask(await gateway.key({ group_id: group }), prompt())
    expect(refused.status).toBe(402)
    expect(refused.headers.get('retry-after')).toBe(String(8 * 3_600))
    expect(errorIn(refused)).toMatchObject({
      code: 'LM-4001',
      scope: 'group',
      retry_after: 8 * 3_600,
      budget_resets_at: tuesday,
    })
  })

  test('without a period the 402 has neither', async () => {
    const gateway = await gatewayAt()
    const refused = await gateway.ask(await gateway.key({ budget_max: 0 }), prompt())
    expect(refused.headers.get('retry-after')).toBe(null)
    expect(errorIn(refused)).not.toHaveProperty('budget_resets_at')
    expect(errorIn(refused)).not.toHaveProperty('retry_after')
  })

  test('a request is charged to the period in which it was admitted', async () => {
    const gateway = await gatewayAt(tuesday * 1000 - 1_000)
    const key = await gateway.key({ budget_max: 0.00003, budget_period: 'day' })
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    live.push(role + hello)
    const body = streamed({ max_tokens: 10 })
    const response = await gateway.chat(body, { headers: key.headers })
    // 28,000 of the 30,000 nano-dollars are reserved until midnight.
    expect(await spend(gateway, key)).toBe(402)
    await gateway.clock.advance(1_000)
    expect(await spend(gateway, key)).toBe(200)
    live.push(stop + done)
    await response.text()
    // The stream: 8 tokens of the prompt, and 2 of `Hello`.
    expect(await show(gateway, key)).toMatchObject({ budget_spent: 0.000008, spent_total: 0.00002 })
    expect(await spend(gateway, key)).toBe(200)
  })

  test('a grant raises the cap for good', async () => {
    const gateway = await gatewayAt()
    const key = await gateway.key({ budget_max: 1, budget_period: 'day' })
    await gateway.admin('POST', `/admin/keys/${key.id}/grant`, { amount: 2 })
    await gateway.clock.advance(8 * hour)
    expect(await show(gateway, key)).toMatchObject({ budget_max: 3, budget_spent: 0 })
  })

  test('a changed period keeps what is spent until its next end', async () => {
    const gateway = await gatewayAt()
    const key = await gateway.key({ budget_max: 1, budget_period: 'day' })
    await spend(gateway, key)
    const change = (period: string | null) =>
      gateway.admin('PATCH', `/admin/keys/${key.id}`, { budget_period: period })
    expect((await change('week')).body).toMatchObject({
      budget_spent: 0.000008,
      budget_resets_at: nextMonday,
    })
    await gateway.clock.advance(8 * hour)
    expect(await show(gateway, key)).toMatchObject({ budget_spent: 0.000008 })
    expect((await change(null)).body).toMatchObject({
      budget_spent: 0.000008,
      budget_resets_at: null,
    })
    expect((await change('day')).body).toMatchObject({
      budget_spent: 0.000008,
      budget_resets_at: tuesday + 24 * 3_600,
    })
    await gateway.clock.advance(24 * hour)
    expect(await show(gateway, key)).toMatchObject({ budget_spent: 0, spent_total: 0.000008 })
  })

  test('a reset fires the thresholds of the budget again', async () => {
    const clock = new ManualClock(start)
    const webhooks = `${pricedProvider}
      [webhooks]
      url = "https://hooks.example/in"
      thresholds = [50]
    `
    const gateway = await keyedGateway(webhooks, { clock })
    const key = await gateway.key({ budget_max: 0.000012, budget_period: 'day' })
    const delivered = () =>
      gateway.upstream.requests.filter(({ url }) => url.startsWith('https://hooks')).length
    for (const expected of [1, 2]) {
      gateway.upstream.next(used(8), json({}))
      expect((await gateway.ask(key, prompt(8, { max_tokens: 1 }))).status).toBe(200)
      await clock.advance(1_000)
      expect(delivered()).toBe(expected)
      await clock.advance(8 * hour)
    }
  })
})

describe('a restart', () => {
  /** Starts another gateway on a copy of the database, after time in which none ran. */
  async function restart(former: Awaited<ReturnType<typeof gatewayAt>>, after: number) {
    const store = new MemoryStore(former.store)
    const clock = new ManualClock(former.clock.now() + after)
    return keyedGateway(pricedProvider, { clock, openStore: async () => store })
  }

  test.each([
    ['a clean stop', true],
    ['a kill', false],
  ])('keeps the spend of the period after %s', async (_, isClean) => {
    const gateway = await gatewayAt()
    const key = await gateway.key({ budget_max: 1, budget_period: 'day' })
    await spend(gateway, key)
    if (isClean) await gateway.gateway.close()
    else await gateway.clock.advance(2_000)
    const same = await restart(gateway, hour)
    expect(await show(same, key)).toMatchObject({
      budget_spent: 0.000008,
      budget_resets_at: tuesday,
    })
  })

  test('resets a budget whose period has ended meanwhile', async () => {
    const gateway = await gatewayAt()
    const key = await gateway.key({ budget_max: 0.000012, budget_period: 'day' })
    await spend(gateway, key)
    await gateway.gateway.close()
    const later = await restart(gateway, 9 * hour)
    expect(await show(later, key)).toMatchObject({ budget_spent: 0, spent_total: 0.000008 })
  })

  test('keeps a change of the period after a reset that was not charged to', async () => {
    const gateway = await gatewayAt()
    const key = await gateway.key({ budget_max: 1, budget_period: 'day' })
    await spend(gateway, key)
    await gateway.clock.advance(8 * hour)
    await gateway.admin('PATCH', `/admin/keys/${key.id}`, { budget_period: 'month' })
    expect(await show(gateway, key)).toMatchObject({ budget_spent: 0 })
    await gateway.clock.advance(2_000)
    const same = await restart(gateway, hour)
    expect(await show(same, key)).toMatchObject({
      budget_spent: 0,
      budget_resets_at: nextMonday,
      spent_total: 0.000008,
    })
  })
})
