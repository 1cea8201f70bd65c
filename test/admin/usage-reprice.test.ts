import { describe, expect, test } from 'vitest'
import { renderRepriced, reprice } from '../../adapters/node/commands/usage-reprice.ts'
import { readCost, renderCost } from '../../adapters/node/commands/usage-why.ts'
import { plain } from '../../adapters/node/output/style.ts'
import { readBill } from '../../src/core/bill.ts'
import { completion } from '../support/answers.ts'
import {
  type KeyedGateway,
  keyedGateway,
  pricedProvider,
  prompt,
  readSpend,
  used,
} from '../support/keyed-gateway.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { json } from '../support/scripted-upstream.ts'
import { randomFrom } from '../support/seeded-random.ts'

/*
 * `POST /admin/usage/reprice`, and the commands that show what a cost is made of.
 */

const since = 1_763_900_000
const path = '/admin/usage/reprice'
const step =
  '[[providers.models.prices]]\nabove_input = 100\nmultiply = 3\n' +
  // The manual clock starts at 2025-11-24 16:00 UTC.
  '[[providers.models.prices]]\nhours = ["16:00-16:30"]\ncost_per_1m_output = 7\n'

/** Serves requests at the first prices, and returns a gateway over the same database with the second ones. */
async function serveAndReload(first: string, second: string, counts: readonly number[]) {
  const store = new MemoryStore()
  const before = await keyedGateway(first, { store })
  const key = await before.key({ budget_max: 1 })
  for (const count of counts) {
    before.upstream.next(used(count, 10))
    await before.ask(key, prompt())
  }
  await before.rows()
  await before.gateway.close()
  store.closed = false
  return { key, gateway: await keyedGateway(second, { store }), store }
}

const commands = ({ admin }: KeyedGateway) => ({
  needsReload: false,
  send: async (method: string, at: string, body?: unknown) => (await admin(method, at, body)).body,
})

describe('repricing', () => {
  test('equals what was charged at the same prices, by size and time', async () => {
    const gateway = await keyedGateway(pricedProvider + step)
    const key = await gateway.key()
    for (const count of [100, 101, 5_000]) {
      gateway.upstream.next(used(count, 10))
      await gateway.ask(key, prompt())
    }
    await gateway.rows()
    const { body } = await gateway.admin('POST', path, { since })
    const cost = (100 + 101 * 3 + 5_000 * 3 + 70 + 210 * 2) / 1e6
    expect(body).toMatchObject({
      next_cursor: null,
      groups: [{ key_id: key.id, model: 'm', requests: 3, inexact: 0, cost, cost_repriced: cost }],
    })
  })

  test('shows other prices, writes them only when it is asked to, and charges nothing', async () => {
    const dearer = pricedProvider.replace('cost_per_1m_input = 1', 'cost_per_1m_input = 5')
    const { key, gateway, store } = await serveAndReload(pricedProvider, dearer, [100, 200])
    const sums = { requests: 2, cost: 0.00034, cost_repriced: 0.00154 }
    expect((await gateway.admin('POST', path, { since })).body['groups']).toMatchObject([sums])
    const rows = async () => (await gateway.admin('GET', `/admin/usage/export?since=${since}`)).body
    expect(await rows()).toMatchObject({ rows: [{ cost_repriced: null }, { cost_repriced: null }] })
    const written = await gateway.admin('POST', path, { since, write: true })
    expect(written.body['groups']).toMatchObject([sums])
    expect(await rows()).toMatchObject({
      rows: [
        { cost: 0.00012, cost_repriced: 0.00052, price_id: expect.any(String) },
        { cost: 0.00022, cost_repriced: 0.00102 },
      ],
    })
    expect(await readSpend(gateway, key.id)).toBe(0.00034)
    expect(store.audit.map(({ action }) => action)).toContain('usage.reprice')
    // Its log does not have the rows of the gateway before it.
    await gateway.gateway.close()
  })

  test('goes page by page, of one model, and leaves out what has no answer', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key()
    for (const count of [100, 200, 300]) {
      gateway.upstream.next(used(count, 10))
      await gateway.ask(key, prompt())
    }
    await gateway.ask(await gateway.key({ rpm_limit: 0 }), prompt())
    await gateway.rows()
    const first = await gateway.admin('POST', path, { since, limit: 2, model: 'm' })
    expect(first.body).toMatchObject({ next_cursor: 2, groups: [{ requests: 2 }] })
    const second = await gateway.admin('POST', path, { since, limit: 10, cursor: 2 })
    expect(second.body).toMatchObject({ next_cursor: null, groups: [{ requests: 1 }] })
    const unknown = await gateway.admin('POST', path, { model: 'x' })
    expect(unknown.status).toBe(400)
    const all = await reprice(commands(gateway), {
      since,
      until: since + 1_000_000,
      model: undefined,
      write: false,
    })
    expect(all).toMatchObject([{ requests: 3, cost: 0.00066, cost_repriced: 0.00066 }])
    const text = await renderRepriced(all, { write: false, style: plain })
    expect(text).toContain('nothing is written: --write keeps it in cost_repriced')
    expect(text).toMatch(/REQUESTS +COST +REPRICED/)
  })
})

test('the lines of a cost as the command prints them', async () => {
  const gateway = await keyedGateway()
  const key = await gateway.key({ budget_max: 1 })
  gateway.upstream.next(used(100, 10))
  const { headers } = await gateway.ask(key, prompt(8, { max_tokens: 10 }))
  await gateway.rows()
  const rows = await readCost(commands(gateway), headers.get('x-request-id') ?? '')
  const text = await renderCost(rows, plain)
  expect(text).toContain('m at p, ')
  expect(text).toMatch(/input +100 +× \$1 \/ 1,000,000 +0\.000100000/)
  expect(text).toMatch(/output +10 +× \$2 \/ 1,000,000 +0\.000020000/)
  expect(text).toMatch(/cost +calculated +0\.000120000/)
  expect(text).toMatch(/reserved +0\.000028000/)
})

describe('the rows of requests of all kinds', () => {
  const entries = [
    'above_input = 100\nmultiply = 2',
    'above_input = 1000\ncost_per_1m_input = 1.5\ncost_per_1m_cached_input = 0.2',
    'tier = "priority"\nmultiply = 1.75',
    'tier = ["flex", "batch"]\nmultiply = 0.5',
    'tier = "flex"\ncost_per_1m_audio_input = 4',
    'hours = ["16:03-16:07"]\nmultiply = 3',
    'from = "2025-11-25"\ncost_per_1m_output = 5',
  ]
  const config =
    pricedProvider +
    `cost_per_1m_cached_input = 0.123456789
      cost_per_1m_cache_write = 1.25
      cost_per_1m_cache_write_12h = 2.5
      cost_per_1m_reasoning = 3
      cost_per_1m_audio_input = 6
      cost_per_1m_image_input = 2.000000001
      cost_per_1m_cached_audio_input = 0.7
      cost_per_1m_audio_output = 12
      cost_per_1m_image_output = 40
      cost_per_1k_requests = 0.01
      tool_costs_per_1k = { web_search = 10, x_search = 5, code_execution = 0.000001 }
    ` +
    entries.map((entry) => `[[providers.models.prices]]\n${entry}\n`).join('')
  const random = randomFrom(20_261_128)
  const upTo = (most: number) => Math.floor(random() * (most + 1))
  const pick = <T>(...all: readonly T[]) => all[upTo(all.length - 1)] as T

  /** An answer with any counts that a vendor may report. */
  function anyAnswer() {
    const promptTokens = pick(1, 99, 100, 101, 1_000, 1_001, upTo(3_000) + 1)
    const completionTokens = upTo(500)
    const part = (count: number) => pick(0, upTo(count))
    const written = part(promptTokens)
    return {
      usage: {
        prompt_tokens: promptTokens,
        completion_tokens: completionTokens,
        total_tokens: promptTokens + completionTokens,
        prompt_tokens_details: {
          cached_tokens: part(promptTokens),
          cached_tokens_details: { audio_tokens: part(promptTokens) },
          cache_write_tokens: written,
          cache_write_tokens_details: { ttl_12h_tokens: part(written) },
          audio_tokens: part(promptTokens),
          image_tokens: part(promptTokens),
          video_tokens: part(promptTokens),
        },
        completion_tokens_details: {
          reasoning_tokens: part(completionTokens),
          audio_tokens: part(completionTokens),
          image_tokens: part(completionTokens),
        },
        server_side_tool_usage_details: {
          web_search_calls: upTo(3),
          x_search_calls: upTo(2),
          code_interpreter_calls: upTo(2),
        },
      },
      ...pick({}, { service_tier: pick('default', 'priority', 'flex', 'batch', 'scale') }),
    }
  }

  test('are made of lines that add up to their cost, and cost the same again', async () => {
    const gateway = await keyedGateway(config)
    const key = await gateway.key({ budget_max: 1_000 })
    const ids: string[] = []
    for (let count = 0; count < 300; count++) {
      if (count === 250) await gateway.clock.advance(8 * 3_600_000)
      if (count % 10 === 0) await gateway.clock.advance(1_000 * upTo(30))
      gateway.upstream.next(json(completion('Hi', anyAnswer())))
      const tier = pick({}, { service_tier: pick('auto', 'priority', 'flex') })
      const answer = await gateway.ask(key, prompt(8, tier))
      expect(answer.status).toBe(200)
      ids.push(String(answer.headers.get('x-request-id')))
    }
    const rows = await gateway.rows()
    expect(rows).toHaveLength(300)
    expect(new Set(rows.map(({ price }) => price)).size).toBeGreaterThan(15)
    const explained = await Promise.all(
      ids.map((id) => gateway.admin('GET', `/admin/usage/rows/${id}`)),
    )
    for (const { body } of explained) {
      const [row] = body['rows'] as { is_exact: boolean; calculated: number; cost: number }[]
      expect(row).toMatchObject({ is_exact: true, calculated: row?.cost })
    }
    const { body } = await gateway.admin('POST', path, { since, write: true })
    const cost = Number(rows.reduce((sum, row) => sum + row.cost, 0n)) / 1e9
    expect(body['groups']).toMatchObject([{ requests: 300, inexact: 0, cost, cost_repriced: cost }])
    for (const { cost: charged, bill } of gateway.store.usage) {
      expect(readBill(bill).repriced).toBe(charged)
    }
  })
})
