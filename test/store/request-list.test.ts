import { describe, expect, test } from 'vitest'
import {
  type NewUsageRow,
  type RequestListQuery,
  type RequestRow,
  refusedKept,
} from '../../src/store/index.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { randomFrom } from '../support/seeded-random.ts'
import { refusedBatch, usageBatch } from '../support/usage-batch.ts'
import { usageRow } from './support/rows.ts'

const keys = ['a', 'b']
const statuses = [200, 200, 200, 402, 502] as const

/** Writes rows of both logs in small batches, almost in the order of their time. */
async function fill(store: MemoryStore, count: number): Promise<void> {
  const random = randomFrom(7)
  const draw = (below: number) => Math.floor(random() * below)
  for (let at = 0; at < count; at++) {
    const ts = 1_000 + at - draw(4)
    const row = { ts, requestId: `r-${at}`, keyId: keys[draw(keys.length)] ?? '' }
    if (draw(3) === 0) await store.addRefused(refusedBatch({ ...row, model: 'none' }))
    else {
      const status = statuses[draw(statuses.length)] ?? 200
      const errorCode = status === 200 ? null : 'LM-3004'
      await store.addUsage(usageBatch(`${at}`, [usageRow({ ...row, status, errorCode })]))
    }
  }
}

/** Walks through all pages, which must have `limit` rows but for the last one. */
async function walk(
  store: MemoryStore,
  query: Omit<RequestListQuery, 'position' | 'limit'>,
  limit: number,
): Promise<RequestRow[]> {
  const rows: RequestRow[] = []
  let position: RequestListQuery['position']
  for (;;) {
    const page = await store.listRequests({ ...query, position, limit })
    rows.push(...page.rows)
    position = page.end
    if (page.isLast) return rows
    expect(page.rows).toHaveLength(limit)
  }
}

const names = (rows: readonly RequestRow[]) => rows.map(({ requestId }) => requestId)

describe('pages', () => {
  const filters: Record<string, Partial<RequestListQuery>> = {
    everything: {},
    'one key': { keyId: 'a' },
    'failed requests': { statuses: { from: 400, to: 599 } },
    'one status': { statuses: { from: 402, to: 402 } },
    'successful requests': { statuses: { from: 100, to: 399 } },
    'one code': { errorCode: 'LM-2001' },
    'one model': { model: 'gpt' },
    'one provider': { provider: 'openai' },
    'a window': { window: { since: 1_020, until: 1_035 } },
    'failed requests of a window': {
      window: { since: 1_020, until: 1_035 },
      statuses: { from: 400, to: 599 },
    },
    'one request': { requestId: 'r-33' },
  }

  test.each(Object.entries(filters))(
    'of %s hold each request once, in both directions',
    async (_, filter) => {
      const store = new MemoryStore()
      await fill(store, 50)
      const all = (await store.listRequests({ direction: 'older', limit: 1_000 })).rows
      expect(all).toHaveLength(50)
      const { window, statuses: range, ...equal } = filter
      const wanted = all.filter(
        (row) =>
          (!window || (row.ts >= window.since && row.ts <= window.until)) &&
          (!range || (row.status >= range.from && row.status <= range.to)) &&
          Object.entries(equal).every(([name, value]) => row[name as keyof RequestRow] === value),
      )
      expect(wanted).not.toEqual([])
      for (const limit of [1, 7, 50]) {
        const older = await walk(store, { ...filter, direction: 'older' }, limit)
        expect(names(older)).toEqual(names(wanted))
        const newer = await walk(store, { ...filter, direction: 'newer' }, limit)
        expect(names(newer).toSorted()).toEqual(names(wanted).toSorted())
      }
    },
  )

  test('rows of both logs are in the order of their time', async () => {
    const store = new MemoryStore()
    await fill(store, 100)
    const { rows } = await store.listRequests({ direction: 'older', limit: 1_000 })
    for (const [at, row] of rows.entries()) {
      // As far as the rows of one log are in that order.
      expect(Math.abs(row.ts - (1_099 - at))).toBeLessThan(8)
    }
  })

  test('of newer rows begin behind the newest of an earlier page', async () => {
    const store = new MemoryStore()
    await fill(store, 10)
    const { newest } = await store.listRequests({ direction: 'older', limit: 2 })
    await store.addUsage(usageBatch('late', [usageRow({ requestId: 'late', ts: 5 })]))
    await store.addRefused(refusedBatch({ requestId: 'refused' }))
    const page = await store.listRequests({ direction: 'newer', position: newest, limit: 9 })
    expect(names(page.rows)).toEqual(['late', 'refused'])
    const rest = await store.listRequests({ direction: 'newer', position: page.end, limit: 9 })
    expect(rest.rows).toEqual([])
  })

  test('of an empty database are empty', async () => {
    const store = new MemoryStore()
    const nothing = { usage: 0, refused: 0 }
    for (const direction of ['older', 'newer'] as const) {
      const page = await store.listRequests({ direction, limit: 9 })
      expect(page).toEqual({ rows: [], end: nothing, newest: nothing, isLast: true })
    }
  })
})

test('a row has every member as it was written', async () => {
  const store = new MemoryStore()
  const row = { ts: 7, keyId: null, groupId: 'g', stream: true, model: null, count: 12 }
  await store.addRefused(refusedBatch(row))
  await store.addUsage(
    usageBatch('1', [usageRow({ cacheHit: true, ttftMs: 4, queuedMs: 5, failure: '{"a":1}' })]),
  )
  const { rows } = await store.listRequests({ direction: 'older', limit: 9 })
  expect(rows).toMatchObject([
    { ...pickShown(usageRow({ cacheHit: true })), ttftMs: 4, queuedMs: 5, failure: '{"a":1}' },
    { ...row, log: 'refused', id: 1, provider: null, cost: 0n, attempts: 0 },
  ])
})

function pickShown({ requestId, keyId, model, provider, cost, cacheHit, api }: NewUsageRow) {
  return { log: 'usage', count: 1, requestId, keyId, model, provider, cost, cacheHit, api }
}

test('failed requests are found by their index', async () => {
  const store = new MemoryStore()
  const plan = store.read(
    `explain query plan select id from usage_log indexed by usage_log_failed
     where id < 9 and status >= 400 and status between 400 and 599 order by id desc limit 5`,
  )
  expect(plan.map((row) => row.at(-1))).toEqual([
    expect.stringMatching(/^SEARCH usage_log USING (?:COVERING )?INDEX usage_log_failed \(id</),
  ])
})

test('only the last refused requests are kept, and a batch that is sent again is written once', async () => {
  const store = new MemoryStore()
  const batch = refusedBatch({ requestId: 'first' }, { requestId: 'second' })
  await store.addRefused(batch)
  await store.addRefused(batch)
  expect(store.refused).toHaveLength(2)
  store.run(
    `insert into refused_requests
     select ${refusedKept} + 1, ts, 'later', key_id, group_id, api, stream, model, status, error_code, failure,
     latency_ms, count from refused_requests where request_id = 'second'`,
  )
  await store.addRefused(refusedBatch({ requestId: 'last' }))
  const { rows } = await store.listRequests({ direction: 'older', limit: 9 })
  expect(names(rows)).toEqual(['last', 'later'])
})

test('refused requests before a time are purged in slices', async () => {
  const store = new MemoryStore()
  await store.addRefused(refusedBatch(...[1, 2, 3, 4].map((ts) => ({ ts, requestId: `${ts}` }))))
  expect(await store.purgeRefused(4, 2)).toBe(2)
  expect(await store.purgeRefused(4, 2)).toBe(1)
  const { rows } = await store.listRequests({ direction: 'older', limit: 9 })
  expect(names(rows)).toEqual(['4'])
})
