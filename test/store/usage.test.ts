import { describe, expect, test } from 'vitest'
import type { NanoUsd } from '../../src/core/ids.ts'
import {
  maxBudget,
  type NewUsageRow,
  startOfInterval,
  type UsageSum,
  usageGroupings,
  usageIntervals,
} from '../../src/store/index.ts'
import { usageColumns } from '../../src/store/usage-columns.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { usageBatch } from '../support/usage-batch.ts'
import { usageRow, usd } from './support/rows.ts'

const everything = { since: 0, until: 1e9 }

async function storeWith(rows: readonly Partial<NewUsageRow>[]): Promise<MemoryStore> {
  const store = new MemoryStore()
  await store.addUsage(usageBatch('all', rows.map(usageRow)))
  return store
}

describe('rows', () => {
  test('usage rows are read as they were written', async () => {
    const rows = [
      usageRow(),
      usageRow({
        groupId: 'g',
        modelUsed: null,
        capability: 'rerank',
        api: 'rerank',
        stream: true,
        estimated: true,
        cachedTokens: 1,
        cacheWriteTokens: 2,
        reasoningTokens: 3,
        searchUnits: 4,
        mediaCount: 5,
        mediaBytes: Number.MAX_SAFE_INTEGER,
        cost: maxBudget,
        ttftMs: 0,
        status: 499,
        errorCode: 'LM-6001',
        metadata: { team: 'a "b" \\ \n', n: 1.5, ok: true, half: '\ud800', é: '漢' },
      }),
    ]
    const store = await storeWith(rows)
    const found = await store.listUsage({ ...everything, cursor: 0, limit: 10 })
    expect(found).toEqual(rows.map((row, at) => ({ id: at + 1, ...row })))
  })

  test('the prices that rows name are kept once, and read by their ids', async () => {
    const store = new MemoryStore()
    const vectors = { id: 'aa', text: '{"input":"1"}' }
    const row = { ...usageRow({ bill: '{"price":"aa"}' }), vectors }
    const parts = [[{ prices: { id: 'bb', text: '{}' } }, { prices: vectors }]]
    await store.addUsage(usageBatch('1', [row, row]))
    const split = { ...row, vectors: parts }
    await store.addUsage(usageBatch('2', [row, split]))
    expect(await store.readPrices(['aa', 'bb', 'cc'])).toEqual(
      new Map([
        ['aa', '{"input":"1"}'],
        ['bb', '{}'],
      ]),
    )
    expect(await store.readPrices([])).toEqual(new Map())
  })

  test('rows are found by their request', async () => {
    const store = await storeWith([{ requestId: 'a' }, { requestId: 'b' }, { requestId: 'a' }])
    const found = await store.listUsage({ ...everything, cursor: 0, limit: 10, requestId: 'a' })
    expect(found.map(({ id }) => id)).toEqual([1, 3])
  })

  test('later costs are kept in the bill, beside what it says, and rows keep what they cost', async () => {
    const store = await storeWith([{ bill: '{"price":"aa","reserved":"7"}' }, {}, {}])
    await store.writeRepriced([
      { id: 1, cost: maxBudget },
      { id: 2, cost: usd(0.5) },
    ])
    await store.writeRepriced([{ id: 2, cost: usd(0.25) }])
    const rows = await store.listUsage({ ...everything, cursor: 0, limit: 10 })
    expect(rows.map(({ bill, cost }) => [bill === null ? null : JSON.parse(bill), cost])).toEqual([
      [{ price: 'aa', reserved: '7', repriced: String(maxBudget) }, usd(0.001)],
      [{ repriced: '250000000' }, usd(0.001)],
      [null, usd(0.001)],
    ])
  })

  test('metadata can contain the name __proto__', async () => {
    const metadata = JSON.parse('{"__proto__":"x"}')
    const store = await storeWith([{ metadata }])
    const [row] = await store.listUsage({ ...everything, cursor: 0, limit: 10 })
    expect(JSON.stringify(row?.metadata)).toBe('{"__proto__":"x"}')
  })

  test('numbers that no column can hold are clamped, and the other rows of the batch are written', async () => {
    const store = await storeWith([
      {
        tokensIn: Number.NaN,
        tokensOut: Infinity,
        latencyMs: 12.6,
        cost: (maxBudget * 9n) as NanoUsd,
      },
      {},
    ])
    const [odd, good] = await store.listUsage({ ...everything, cursor: 0, limit: 10 })
    expect(odd).toMatchObject({
      tokensIn: 0,
      tokensOut: Number.MAX_SAFE_INTEGER,
      latencyMs: 13,
      cost: maxBudget,
    })
    expect(good).toMatchObject(usageRow())
  })

  test('each row of a batch keeps its own values, no matter which column is the first to differ', async () => {
    const store = new MemoryStore()
    const rows = [
      usageRow(),
      usageRow(),
      usageRow({ status: 429, errorCode: 'LM-4002' }),
      usageRow({ requestId: 'r-3', metadata: { team: 'b' } }),
      usageRow(),
    ]
    const batch = usageBatch('1', rows)
    await store.addUsage(batch)
    const listed = await store.listUsage({ ...everything, cursor: 0, limit: 10 })
    expect(listed).toEqual(rows.map((row, at) => ({ ...row, id: at + 1 })))
    expect(batch.rows()).toEqual(rows)
    expect(batch.text().varying.map((at) => usageColumns[at]?.name)).toEqual([
      'requestId',
      'status',
      'errorCode',
      'metadata',
    ])
  })

  test('a batch is written once, no matter how often it is sent', async () => {
    const store = new MemoryStore()
    const batch = (id: string) => usageBatch(id, [usageRow(), usageRow()])
    await store.addUsage(batch('1'))
    await store.addUsage(batch('1'))
    await store.addUsage(batch('2'))
    const rows = await store.listUsage({ ...everything, cursor: 0, limit: 10 })
    expect(rows.map(({ id }) => id)).toEqual([1, 2, 3, 4])
  })

  test('a batch is written completely or not at all, and can be sent again', async () => {
    const store = new MemoryStore()
    const bad = usageRow({ model: null as unknown as string })
    await expect(store.addUsage(usageBatch('1', [usageRow(), bad]))).rejects.toMatchObject({
      code: 'SQLITE_CONSTRAINT',
    })
    await store.addUsage(usageBatch('1', [usageRow()]))
    expect(store.usage).toHaveLength(1)
  })

  test('a batch can have more rows than one statement can bind', async () => {
    const store = await storeWith(Array.from({ length: 1_234 }, (_, at) => ({ latencyMs: at })))
    const rows = await store.listUsage({ ...everything, cursor: 0, limit: 10_000 })
    expect(rows.map(({ latencyMs }) => latencyMs)).toEqual([...Array(1_234).keys()])
  })

  test.each([
    ['alike', {}],
    ['all different', { stream: true, estimated: true, tokensIn: 1, cost: usd(2), status: 500 }],
  ])('whole numbers are stored as integers, %s or not', async (_, second) => {
    const metadata = { team: 'a' }
    const most = Number.MAX_SAFE_INTEGER
    const store = await storeWith([
      { tokensOut: most, metadata },
      { tokensOut: most, metadata, ...second },
    ])
    const numbers = ['ts', 'stream', 'estimated', 'tokens_in', 'tokens_out', 'cost_nano', 'status']
    const kinds = numbers.map((name) => `typeof(${name}) as ${name}`).join(', ')
    const rows = store.read(`select ${kinds} from usage_log`)
    expect(rows.flat()).toEqual(Array(14).fill('integer'))
    const found = await store.listUsage({ ...everything, cursor: 0, limit: 10 })
    expect(found).toMatchObject([
      { tokensOut: most, metadata },
      { metadata, ...second },
    ])
  })

  test('an empty batch can be written', async () => {
    const store = await storeWith([])
    expect(await store.listUsage({ ...everything, cursor: 0, limit: 10 })).toEqual([])
  })

  test('the ids of batches are kept for a week', async () => {
    const store = new MemoryStore()
    store.run(`insert into written_batches values ('old', unixepoch() - 7 * 86400 - 60)`)
    store.run(`insert into written_batches values ('young', unixepoch() - 86400)`)
    await store.addUsage(usageBatch('new', []))
    expect(store.read('select id from written_batches order by id').flat()).toEqual([
      'new',
      'young',
    ])
  })
})

describe('pages', () => {
  // Almost in the order of time, as rows are written.
  const times = [100, 102, 101, 103, 105, 104, 50, 106, 108, 107]

  test.each([
    ['everything', { since: 0, until: 1e9 }],
    ['one second', { since: 104, until: 104 }],
    ['both ends included', { since: 101, until: 105 }],
    ['a row that is out of order', { since: 50, until: 101 }],
    ['nothing', { since: 109, until: 200 }],
    ['a window the wrong way round', { since: 105, until: 101 }],
  ])('a page contains the rows of the window, by id: %s', async (_, window) => {
    const store = await storeWith(times.map((ts) => ({ ts })))
    const expected = times.flatMap((ts, at) =>
      ts >= window.since && ts <= window.until ? [at + 1] : [],
    )
    const ids: number[] = []
    for (let cursor = 0; ; ) {
      const rows = await store.listUsage({ ...window, cursor, limit: 3 })
      ids.push(...rows.map(({ id }) => id))
      if (rows.length === 0) break
      cursor = ids.at(-1) ?? 0
    }
    expect(ids).toEqual(expected)
  })

  test('a cursor stays valid after a purge, and ids are not reused', async () => {
    const store = await storeWith(times.map((ts) => ({ ts })))
    expect(await store.purgeUsage(1_000, 100)).toBe(10)
    await store.addUsage(usageBatch('more', [usageRow()]))
    const rows = await store.listUsage({ ...everything, cursor: 10, limit: 10 })
    expect(rows.map(({ id }) => id)).toEqual([11])
  })
})

test('a purge deletes the oldest rows, up to its limit', async () => {
  const store = await storeWith([5, 1, 4, 2, 3].map((ts) => ({ ts })))
  expect(await store.purgeUsage(4, 2)).toBe(2)
  const times = async () =>
    (await store.listUsage({ ...everything, cursor: 0, limit: 10 })).map(({ ts }) => ts)
  expect(await times()).toEqual([5, 4, 3])
  expect(await store.purgeUsage(4, 2)).toBe(1)
  expect(await store.purgeUsage(4, 2)).toBe(0)
  expect(await times()).toEqual([5, 4])
})

describe('sums', () => {
  const query = { ...everything, limit: 100 }

  test('sums count requests and add up the columns', async () => {
    const store = await storeWith([
      {
        status: 200,
        cost: usd(0.5),
        searchUnits: 1,
        mediaCount: 2,
        mediaBytes: 3,
        cachedTokens: 4,
      },
      { status: 204, cost: usd(0.75), estimated: true, searchUnits: 10, mediaCount: 20 },
      { status: 402, cost: usd(0), tokensIn: 0, tokensOut: 0, tokensTotal: 0 },
      { status: 499, estimated: true, ts: 1_005 },
      { status: 502, cost: usd(0), ts: 1_003 },
    ])
    expect(await store.sumUsage({ ...query, groupBy: 'total' })).toEqual([
      {
        group: 'total',
        requests: 5,
        requestsOk: 2,
        requestsClientError: 2,
        requestsServerError: 1,
        tokensIn: 40,
        tokensOut: 20,
        tokensTotal: 60,
        cachedTokens: 4,
        estimatedRequests: 2,
        upstreamRequests: 3,
        searchUnits: 11,
        mediaCount: 22,
        mediaBytes: 3,
        cost: usd(1.251),
        lastAt: 1_005,
      } satisfies UsageSum,
    ])
  })

  test.each([
    ['model', ['a', 'b']],
    ['model_used', ['', 'a']],
    ['provider', ['p', 'q']],
    ['capability', ['chat', 'embed']],
    ['api', ['chat', 'embeddings']],
    ['key_id', ['k', 'l']],
    ['group_id', ['', 'g']],
    ['status', ['200', '429']],
    ['total', ['total']],
  ] as const)('sums are grouped by %s', async (groupBy, groups) => {
    const store = await storeWith([
      { model: 'a', modelUsed: 'a', provider: 'p', keyId: 'k', groupId: 'g' },
      {
        model: 'b',
        modelUsed: null,
        provider: 'q',
        keyId: 'l',
        capability: 'embed',
        api: 'embeddings',
        status: 429,
      },
    ])
    const sums = await store.sumUsage({ ...query, groupBy })
    expect(sums.map(({ group }) => group).sort()).toEqual(groups)
    expect(sums.reduce((sum, { requests }) => sum + requests, 0)).toBe(2)
  })

  test('a window without rows has no groups in any grouping', async () => {
    const store = await storeWith([{ ts: 5 }])
    for (const groupBy of usageGroupings) {
      expect(await store.sumUsage({ ...query, groupBy, since: 6 })).toEqual([])
      expect(await store.sumUsage({ ...query, groupBy, model: 'another' })).toEqual([])
    }
  })

  test('groups are ordered by cost, then by name, and limited', async () => {
    const store = await storeWith([
      { model: 'c', cost: usd(2.000000001) },
      { model: 'd', cost: usd(2.000000002) },
      { model: 'b', cost: usd(1) },
      { model: 'a', cost: usd(1) },
      // Fractions that add up to whole dollars.
      { model: 'e', cost: usd(0.75) },
      { model: 'e', cost: usd(0.75) },
    ])
    const names = async (limit: number) =>
      (await store.sumUsage({ ...query, groupBy: 'model', limit })).map(({ group }) => group)
    expect(await names(10)).toEqual(['d', 'c', 'e', 'a', 'b'])
    expect(await names(2)).toEqual(['d', 'c'])
  })

  test.each(usageIntervals)(
    'sums by %s are those of the definition of the interval',
    async (interval) => {
      const times = [
        '2024-02-29T23:59:59Z',
        '2024-03-01',
        '2025-12-28T23:00Z',
        '2025-12-29',
        '2026-01-01',
      ]
      const rows = times.map((time) => ({ ts: Date.parse(time) / 1000 }))
      const store = await storeWith(rows)
      const window = { ...query, until: 2_000_000_000, groupBy: 'model', groups: ['gpt'] } as const
      const parts = await store.sumUsageByInterval({ ...window, interval })
      const starts = rows.map(({ ts }) => startOfInterval(interval, ts))
      expect(parts.map(({ start }) => start)).toEqual([...new Set(starts)])
      expect(parts.reduce((sum, { requests }) => sum + requests, 0)).toBe(times.length)
    },
  )

  test('sums by interval cover only the given groups, within the window and the limit', async () => {
    const store = await storeWith([
      { ts: 90_000, model: 'a', cost: usd(0.75) },
      { ts: 91_000, model: 'a', cost: usd(0.5) },
      { ts: 180_000, model: 'a' },
      { ts: 90_000, model: 'b' },
      { ts: 10, model: 'a' },
    ])
    const window = { since: 90_000, until: 200_000, groupBy: 'model', groups: ['a'] } as const
    const parts = await store.sumUsageByInterval({ ...window, interval: 'day', limit: 10 })
    expect(parts).toMatchObject([
      { group: 'a', start: 86_400, requests: 2, tokensIn: 20, cost: usd(1.25) },
      { group: 'a', start: 172_800, requests: 1 },
    ])
    expect(await store.sumUsageByInterval({ ...window, interval: 'day', limit: 1 })).toHaveLength(1)
  })

  test('sums cover the rows that pass all filters', async () => {
    const all = {
      keyId: 'k',
      groupId: 'g',
      model: 'm',
      provider: 'p',
      capability: 'embed',
      api: 'embeddings',
    } as const
    const store = await storeWith([
      { ...all, ts: 10 },
      { ...all, ts: 9 },
      { ...all, ts: 12 },
      ...Object.keys(all).map((name) => ({ ...all, ts: 10, [name]: 'other' })),
    ])
    const sums = await store.sumUsage({ ...all, since: 10, until: 11, groupBy: 'total', limit: 1 })
    expect(sums).toMatchObject([{ requests: 1 }])
  })

  test('sums are exact up to 2^53 and never fail for large numbers', async () => {
    const most = Number.MAX_SAFE_INTEGER
    const store = await storeWith([
      { tokensIn: most - 1, tokensOut: most },
      { tokensIn: 1, tokensOut: 0 },
    ])
    expect(await store.sumUsage({ ...query, groupBy: 'total' })).toMatchObject([
      { tokensIn: most, tokensOut: most },
    ])
    const rows = Array.from({ length: 1_100 }, () => usageRow({ tokensIn: most }))
    await store.addUsage(usageBatch('huge', rows))
    const [sum] = await store.sumUsage({ ...query, groupBy: 'total' })
    expect(sum?.tokensIn).toBeCloseTo(1_101 * most, -5)
  })
})
