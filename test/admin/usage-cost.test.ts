import { describe, expect, test } from 'vitest'
import { usageLogSink } from '../../src/accounting/usage-row.ts'
import { usageRoutes } from '../../src/admin/usage.ts'
import { vendorTools } from '../../src/core/billing.ts'
import type { NanoUsd, RequestId } from '../../src/core/ids.ts'
import { toUsd } from '../../src/core/money.ts'
import type { PriceFacts } from '../../src/core/price-table.ts'
import type { RequestRecord } from '../../src/core/request-record.ts'
import type { Usage } from '../../src/core/usage.ts'
import { createPriceTable, priceAnswer, toBasePrices } from '../../src/pricing/index.ts'
import type { ChargedRow } from '../../src/store/index.ts'
import { keyId, link, nano } from '../accounting/support.ts'
import { adminContext } from '../support/admin-context.ts'
import { keyedGateway, pricedProvider, prompt, used } from '../support/keyed-gateway.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { json } from '../support/scripted-upstream.ts'
import { usageBatch } from '../support/usage-batch.ts'

/*
 * `GET /admin/usage/rows/{request_id}`: what the cost of a request is made of.
 */

interface Explained {
  readonly cost: number
  readonly calculated: number | null
  readonly is_exact: boolean
  readonly lines: readonly {
    readonly name: string
    readonly count: number
    readonly price: number
    readonly per: number
    readonly cost: number
  }[]
}

describe('the lines of a cost', () => {
  test('are its counts at the prices that held, and add up', async () => {
    const gateway = await keyedGateway(
      `${pricedProvider}cost_per_1m_cached_input = 0.5
cost_per_1m_cache_write = 1.25
cost_per_1m_reasoning = 3
cost_per_1k_requests = 5
tool_costs_per_1k = { web_search = 10 }
[[providers.models.prices]]
tier = "priority"
multiply = 2
`.replace('"openai"', '"xai"'),
    )
    const key = await gateway.key({ budget_max: 1 })
    gateway.upstream.next(
      used(100, 20, {
        prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 20 },
        completion_tokens_details: { reasoning_tokens: 5 },
        server_side_tool_usage_details: { web_search_calls: 2 },
      }),
    )
    const answer = await gateway.ask(key, prompt(8, { service_tier: 'priority' }))
    await gateway.rows()
    const id = answer.headers.get('x-request-id')
    const { body } = await gateway.admin('GET', `/admin/usage/rows/${id}`)
    const [row] = body['rows'] as readonly Explained[]
    const perMillion = (name: string, count: number, price: number) => ({
      name,
      count,
      price,
      per: 1_000_000,
      cost: (count * price) / 1e6,
    })
    expect(row).toMatchObject({
      request_id: id,
      tier: 'priority',
      price: 'priority x2',
      is_exact: true,
      calculated: row?.cost,
      lines: [
        perMillion('input', 50, 2),
        perMillion('cached', 30, 1),
        perMillion('written', 20, 2.5),
        perMillion('output', 15, 4),
        perMillion('reasoning', 5, 6),
        { name: 'web_search', count: 2, price: 10, per: 1000, cost: 0.02 },
        { name: 'requests', count: 1, price: 5, per: 1000, cost: 0.005 },
      ],
    })
    const sum = row?.lines.reduce((total, { cost }) => total + cost, 0)
    expect(sum).toBeCloseTo(row?.cost ?? 0, 12)
  })

  test('stay as they are when the prices change', async () => {
    const store = new MemoryStore()
    const gateway = await keyedGateway(pricedProvider, { store })
    const key = await gateway.key()
    gateway.upstream.next(used(100, 10))
    const { headers } = await gateway.ask(key, prompt())
    await gateway.rows()
    const path = `/admin/usage/rows/${headers.get('x-request-id')}`
    const before = (await gateway.admin('GET', path)).body
    expect(before['rows']).toMatchObject([{ cost: 0.00012, is_exact: true }])
    expect([...store.prices.values()]).toEqual([
      expect.stringContaining('"input":"1000000000","output":"2000000000"'),
    ])
  })

  test('are none for a refusal, and a request without a row has none', async () => {
    const gateway = await keyedGateway()
    const refused = await gateway.ask(await gateway.key({ rpm_limit: 0 }), prompt())
    await gateway.rows()
    const path = `/admin/usage/rows/${refused.headers.get('x-request-id')}`
    expect((await gateway.admin('GET', path)).body['rows']).toMatchObject([
      { lines: [], calculated: null, is_exact: false, status: 429 },
    ])
    const unknown = await gateway.admin('GET', '/admin/usage/rows/no-such-request')
    expect(unknown).toMatchObject({ status: 200, body: { rows: [] } })
  })

  test('of a reported cost are those that the prices say', async () => {
    const gateway = await keyedGateway(
      pricedProvider.replace('kind = "openai"', 'kind = "xai"\ncost = "reported"'),
    )
    const usage = { prompt_tokens: 100, completion_tokens: 10, cost_in_usd_ticks: 10_000_000 }
    const choices = [{ message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }]
    gateway.upstream.next(json({ choices, usage }))
    const { headers } = await gateway.ask(await gateway.key(), prompt())
    await gateway.rows()
    const path = `/admin/usage/rows/${headers.get('x-request-id')}`
    expect((await gateway.admin('GET', path)).body['rows']).toMatchObject([
      { cost: 0.001, cost_source: 'reported', calculated: 0.00012, is_exact: true },
    ])
  })
})

/** Numbers that look random and are the same in each run. */
function createDraw() {
  let state = 12_345
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state % below
  }
}

const noon = Date.UTC(2026, 10, 27, 12)

/** Returns a link with a table of prices that has steps, tiers, factors and a window. */
function drawLink(draw: (below: number) => number) {
  const price = () => draw(1_000_000) / 10_000
  const tools = Object.fromEntries(vendorTools.map((tool) => [tool, price()]))
  const base = {
    cost_per_1m_input: price(),
    cost_per_1m_output: price(),
    ...(draw(2) === 0 && { cost_per_1m_cached_input: price() }),
    ...(draw(2) === 0 && { cost_per_1m_cache_write: price() }),
    ...(draw(2) === 0 && { cost_per_1m_cache_write_12h: price() }),
    ...(draw(2) === 0 && { cost_per_1m_reasoning: price() }),
    ...(draw(2) === 0 && { cost_per_1k_searches: price() }),
    ...(draw(2) === 0 && { cost_per_1k_requests: price() }),
    ...(draw(2) === 0 && { tool_costs_per_1k: tools }),
  }
  const entries = [
    { above_input: 1_000, cost_per_1m_input: price(), cost_per_1m_cache_write_1h: price() },
    { tier: 'priority', multiply: 1.75 },
    { geo: 'us', multiply: 1.1 },
    { hours: ['10:00-14:00'], cost_per_1m_output: price() },
  ]
  const priceTable =
    draw(4) === 0
      ? undefined
      : createPriceTable({
          base,
          entries: entries.slice(0, draw(5)),
          multiplier: draw(2) === 0 ? undefined : 1.2345,
          autoTiers: ['standard'],
          autoGeos: ['global'],
          totalTimeout: 60_000,
        })
  return link(toBasePrices(base, undefined), {
    ...(priceTable && { priceTable }),
    isCostReported: draw(8) === 0,
  })
}

function drawUsage(draw: (below: number) => number): Usage {
  const counts = () => {
    const promptTokens = draw(3_000)
    const cacheWriteTokens = draw(promptTokens + 1)
    const isFor1h = draw(2) === 0
    return {
      promptTokens,
      completionTokens: draw(500),
      cachedTokens: draw(promptTokens + 100),
      cacheWriteTokens,
      ...(isFor1h && { cacheWrite1hTokens: draw(cacheWriteTokens + 1) }),
      ...(!isFor1h && { cacheWrite12hTokens: draw(cacheWriteTokens + 1) }),
    }
  }
  const own = counts()
  const runs = draw(4) === 0 ? [counts(), { ...counts(), model: 'other' }] : undefined
  return {
    ...own,
    totalTokens: own.promptTokens + own.completionTokens,
    ...(draw(2) === 0 && { reasoningTokens: draw(600) }),
    ...(draw(2) === 0 && { webSearches: draw(4) }),
    estimated: draw(5) === 0,
    billing: {
      ...(draw(2) === 0 && { tier: ['standard', 'priority', 'flex'][draw(3)] }),
      ...(draw(2) === 0 && { geo: ['us', 'eu'][draw(2)] }),
      ...(draw(3) === 0 && { toolCalls: { file_search: draw(3), code_execution: draw(2) } }),
      ...(draw(2) === 0 && { statedCost: nano(draw(1_000_000)) }),
      ...(runs && { runs }),
    },
  }
}

test('10,000 recorded rows cost what their counts cost at the prices that they name', async () => {
  const draw = createDraw()
  const clock = new ManualClock()
  const store = new MemoryStore()
  const rows: ChargedRow[] = []
  const record = usageLogSink({ add: (row) => rows.push(row) }, { clock, refused() {} })
  const links = Array.from({ length: 50 }, () => drawLink(draw))
  for (let at = 0; at < 10_000; at++) {
    const served = links[draw(links.length)]
    if (!served) continue
    const usage = drawUsage(draw)
    const searchUnits = draw(3) === 0 ? draw(5) : undefined
    const sentAt: PriceFacts['at'] = noon + draw(86_400_000)
    const price = priceAnswer(served, { usage, searchUnits, ask: undefined, sentAt })
    const finished: RequestRecord = {
      requestId: `r-${at % 100}` as RequestId,
      keyId,
      account: { keyId, groupId: null },
      keyTerm: undefined,
      groupTerm: undefined,
      cost: price.cost,
      reserved: draw(2) === 0 ? nano(draw(1_000_000)) : undefined,
      price,
      capability: 'chat',
      api: 'chat',
      stream: false,
      model: served,
      served,
      lastCalled: served,
      failed: undefined,
      refusal: undefined,
      status: 200,
      errorCode: undefined,
      usage,
      searchUnits,
      media: undefined,
      latency: 1,
      queued: undefined,
      timeToFirstToken: undefined,
      attempts: 1,
      cacheHit: false,
      metadata: {},
    }
    record(finished)
  }
  await store.addUsage(usageBatch('b', rows))
  const handler = usageRoutes({ store, clock })['/admin/usage/rows/:request_id']?.GET
  const costs: [number, number][] = []
  for (let at = 0; at < 100; at++) {
    const request = new Request('http://gateway.test/')
    const params = { request_id: `r-${at}` }
    const reply = await handler?.({ request, params, context: adminContext() })
    const { rows: explained } = JSON.parse(new TextDecoder().decode(reply?.body as Uint8Array)) as {
      readonly rows: readonly Explained[]
    }
    expect(explained).toHaveLength(100)
    expect(explained.every((row) => row.is_exact)).toBe(true)
    for (const row of explained) {
      const sum = row.lines.reduce((total, { cost }) => total + cost, 0)
      costs.push([sum, row.calculated ?? -1])
    }
  }
  expect(costs).toHaveLength(10_000)
  // Sums of doubles: to the nano-dollar.
  expect(costs.every(([sum, calculated]) => Math.abs(sum - calculated) < 1e-8)).toBe(true)
  const total = rows.reduce((sum, { cost }) => sum + cost, 0n) as NanoUsd
  expect(toUsd(total)).toBeGreaterThan(0)
})

describe('the parts of the costs', () => {
  interface Parts {
    readonly parts: readonly {
      readonly name: string
      readonly count: number
      readonly cost: number
    }[]
    readonly next_cursor: number | null
  }

  async function readParts(
    { admin }: Awaited<ReturnType<typeof keyedGateway>>,
    query = 'since=0',
  ): Promise<Parts> {
    return (await admin('GET', `/admin/usage/parts?${query}`)).body as unknown as Parts
  }

  test('are summed over a page of rows, and add up to what these cost', async () => {
    const gateway = await keyedGateway(
      `${pricedProvider}cost_per_1m_cached_input = 0.5\ncost_per_1m_audio_input = 4\n` +
        'tool_costs_per_1k = { web_search = 10 }\n' +
        '[[providers.models.prices]]\ntier = "priority"\nmultiply = 2\n',
    )
    const key = await gateway.key()
    const details = { prompt_tokens_details: { cached_tokens: 40, audio_tokens: 10 } }
    gateway.upstream.next(
      used(100, 20, { ...details, server_side_tool_usage_details: { web_search_calls: 2 } }),
      used(100, 20, details),
      used(50, 10),
    )
    for (const tier of [{}, { service_tier: 'priority' }, {}]) {
      await gateway.ask(key, prompt(8, tier))
    }
    const rows = await gateway.rows()
    const { parts, next_cursor } = await readParts(gateway)
    expect(next_cursor).toBeNull()
    expect(Object.fromEntries(parts.map(({ name, count, cost }) => [name, [count, cost]]))).toEqual(
      {
        input: [150, 0.0002],
        audio_input: [20, 0.00012],
        cached: [80, 0.00006],
        output: [50, 0.00014],
        web_search: [2, 0.02],
      },
    )
    const charged = Number(rows.reduce((sum, { cost }) => sum + cost, 0n)) / 1e9
    expect(parts.reduce((sum, { cost }) => sum + cost, 0)).toBeCloseTo(charged, 9)
    const first = await readParts(gateway, 'since=0&limit=2')
    const second = await readParts(gateway, `since=0&limit=2&cursor=${first.next_cursor}`)
    expect(second.parts.map(({ name, count }) => [name, count])).toEqual([
      ['input', 50],
      ['output', 10],
    ])
    expect(second.next_cursor).toBeNull()
  })

  test('leave out what the vendor reports, and rows without prices', async () => {
    const gateway = await keyedGateway(
      pricedProvider.replace('kind = "openai"', 'kind = "openrouter"\ncost = "reported"'),
    )
    const key = await gateway.key()
    gateway.upstream.next(used(100, 20, { cost: 0.5, cost_details: {} }))
    await gateway.ask(key, prompt())
    expect(await gateway.rows()).toMatchObject([{ cost: 500_000_000n }])
    expect((await readParts(gateway)).parts).toEqual([])
  })
})
