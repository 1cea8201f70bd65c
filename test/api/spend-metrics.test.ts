import { describe, expect, test } from 'vitest'
import { version } from '../../src/index.ts'
import { completion } from '../support/answers.ts'
import { series } from '../support/exposition.ts'
import type { TestGateway } from '../support/gateway.ts'
import { keyedGateway, pricedProvider, prompt, used } from '../support/keyed-gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const scrape = async ({ get }: TestGateway) => (await get('/metrics')).text()

async function read(gateway: TestGateway, name: string) {
  return series(await scrape(gateway), name)
}

describe('gateway_cost_usd_total', () => {
  /** Prices whose sums a double cannot hold. */
  const odd = `${pricedProvider.replace('cost_per_1m_input = 1', 'cost_per_1m_input = 0.333333333')}
fallbacks = ["n"]
[[providers]]
name = "q"
kind = "openai"
api_key_env = "P_KEY"
models = [{ id = "n", cost_per_1m_input = 0.1, cost_per_1m_output = 0.7 }]
`

  test('it is the sum of the usage rows by the model that served, to the nano-dollar', async () => {
    const gateway = await keyedGateway(odd)
    const key = await gateway.key()
    for (let turn = 1; turn <= 40; turn++) {
      const outcome = turn % 4 === 0 ? json({}, { status: 401 }) : used(7 * turn, turn)
      gateway.upstream.next(outcome)
      if (turn % 4 === 0) gateway.upstream.next(used(3 * turn, turn))
      await gateway.ask(key, prompt())
    }
    const costs = new Map<string, bigint>()
    for (const { modelUsed, cost } of await gateway.rows()) {
      costs.set(String(modelUsed), (costs.get(String(modelUsed)) ?? 0n) + cost)
    }
    expect(costs.size).toBe(2)
    expect(await read(gateway, 'gateway_cost_usd_total')).toEqual([
      {
        labels: { capability: 'chat', model: 'm', provider: 'p' },
        value: Number(costs.get('m')) / 1e9,
      },
      {
        labels: { capability: 'chat', model: 'n', provider: 'q' },
        value: Number(costs.get('n')) / 1e9,
      },
    ])
  })

  test('failed streams count with what they used, and refused requests with nothing', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key({ rpm_limit: 1 })
    gateway.upstream.next(stream(['data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n']))
    await gateway.ask(key, prompt(8, { stream: true }))
    expect((await gateway.ask(key, prompt())).status).toBe(429)
    const [row] = await gateway.rows()
    expect(Number(row?.cost)).toBeGreaterThan(0)
    expect(await read(gateway, 'gateway_cost_usd_total')).toMatchObject([
      { value: Number(row?.cost) / 1e9 },
    ])
  })

  test('it counts with auth off too', async () => {
    const gateway = await watchedGateway(pricedProvider)
    gateway.upstream.next(used(1_000_000, 1))
    await gateway.chat(prompt())
    expect(await read(gateway, 'gateway_cost_usd_total')).toMatchObject([{ value: 1.000002 }])
  })
})

describe('gateway_unpriced_requests_total', () => {
  test.each([
    ['without a price', '', [{ labels: { model: 'm' }, value: 1 }]],
    ['with a price of 0', 'cost_per_1m_input = 0', []],
    ['with a price', 'cost_per_1m_input = 1', []],
  ])('a model %s', async (_, price, expected) => {
    const unpriced = pricedProvider.replace(/cost_.*\n/g, '')
    const gateway = await watchedGateway(`${unpriced}${price}`)
    gateway.upstream.next(json(completion()), json({}, { status: 422 }))
    await gateway.chat(prompt())
    await gateway.chat(prompt())
    expect(await read(gateway, 'gateway_unpriced_requests_total')).toEqual(expected)
  })
})

describe('the series of budgets', () => {
  const shown = (more = '') => `[telemetry]\nbudget_series = true\n${more}\n${pricedProvider}`

  async function budgets(gateway: TestGateway) {
    const text = await scrape(gateway)
    const ratios = series(text, 'gateway_budget_spent_ratio')
    const remaining = series(text, 'gateway_budget_remaining_usd')
    expect(ratios.map(({ labels }) => labels)).toEqual(remaining.map(({ labels }) => labels))
    return ratios.map(({ labels, value }, at) => [
      labels['scope'],
      labels['name'],
      value,
      remaining[at]?.value,
    ])
  }

  test('each budget with a cap shows what is spent, groups first', async () => {
    const gateway = await keyedGateway(shown())
    await gateway.key({ name: 'uncapped' })
    const group_id = await gateway.group({ name: 'team "a"\\b', budget_max: 4 })
    const key = await gateway.key({ name: 'ci', budget_max: 1, group_id })
    await gateway.key({ name: 'closed', budget_max: 0 })
    gateway.upstream.next(used(250_000))
    await gateway.ask(key, prompt())
    expect(await budgets(gateway)).toEqual([
      ['group', 'team \\"a\\"\\\\b', 0.0625, 3.75],
      ['key', 'ci', 0.25, 0.75],
      ['key', 'closed', 1, 0],
    ])
  })

  test('two keys of one name have two series, and a deleted one has none', async () => {
    const gateway = await keyedGateway(shown())
    await gateway.key({ name: 'ci', budget_max: 1 })
    const second = await gateway.key({ name: 'ci', budget_max: 2 })
    const third = await gateway.key({ name: 'other', budget_max: 3 })
    const gone = await gateway.key({ name: 'gone', budget_max: 4 })
    await gateway.admin('DELETE', `/admin/keys/${gone.id}`)
    expect(await budgets(gateway)).toEqual([
      ['key', 'ci', 0, 1],
      ['key', `ci (${second.id})`, 0, 2],
      ['key', `other (${third.id})`, 0, 3],
    ])
  })

  test('budgets past max_series are added up as other', async () => {
    const gateway = await keyedGateway(shown('max_series = 2'))
    for (const [at, name] of ['a', 'b', 'c', 'd'].entries()) {
      await gateway.key({ name, budget_max: at + 1 })
    }
    expect(await budgets(gateway)).toEqual([
      ['key', 'a', 0, 1],
      ['key', 'b', 0, 2],
      ['key', 'other', 0, 7],
    ])
  })

  test('a new period begins at the scrape', async () => {
    const gateway = await keyedGateway(shown())
    const key = await gateway.key({ name: 'daily', budget_max: 1, budget_period: 'day' })
    gateway.upstream.next(used(500_000))
    await gateway.ask(key, prompt())
    expect(await budgets(gateway)).toEqual([['key', 'daily', 0.5, 0.5]])
    await gateway.clock.advance(24 * 60 * 60 * 1000)
    expect(await budgets(gateway)).toEqual([['key', 'daily', 0, 1]])
  })

  test('they are off by default, because names need no key to be read', async () => {
    const gateway = await keyedGateway()
    await gateway.key({ budget_max: 1 })
    expect(await scrape(gateway)).not.toContain('gateway_budget')
  })
})

test('the build, and whether the gateway is ready', async () => {
  const gateway = await watchedGateway()
  expect(await read(gateway, 'gateway_build_info')).toEqual([
    { labels: { version, node: '' }, value: 1 },
  ])
  expect(await read(gateway, 'gateway_ready')).toEqual([{ labels: {}, value: 1 }])
  gateway.gateway.startDraining()
  expect(await read(gateway, 'gateway_ready')).toEqual([{ labels: {}, value: 0 }])
})
