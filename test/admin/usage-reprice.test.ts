import { describe, expect, test } from 'vitest'
import { renderRepriced, reprice } from '../../adapters/node/commands/usage-reprice.ts'
import { readCost, renderCost } from '../../adapters/node/commands/usage-why.ts'
import { plain } from '../../adapters/node/output/style.ts'
import {
  type KeyedGateway,
  keyedGateway,
  pricedProvider,
  prompt,
  readSpend,
  used,
} from '../support/keyed-gateway.ts'
import { MemoryStore } from '../support/memory-store.ts'

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
