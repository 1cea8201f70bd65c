import { beforeEach, describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/core/errors.ts'
import type { NanoUsd } from '../../src/core/ids.ts'
import { StoreFault } from '../../src/store/index.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { addRows, getUsage, usageRow } from '../support/usage.ts'

/** The time of the manual clock in unix seconds: 2025-11-24T16:00:00Z. */
const now = 1_764_000_000
const day = 86_400

const clock = new ManualClock(now * 1000 + 999)
let store: MemoryStore

beforeEach(() => {
  store = new MemoryStore()
})

describe('the sums', () => {
  test('the sums contain every counter, and the cost in USD', async () => {
    await addRows(
      store,
      {},
      { estimated: true, status: 499, cost: 1n as NanoUsd },
      { status: 502, mediaCount: 0, searchUnits: 7 },
      { status: 504 },
    )
    expect(await sums('')).toEqual({
      since: now - day,
      until: now,
      group_by: 'model',
      truncated: false,
      groups: [
        {
          group: 'm',
          requests: 4,
          requests_ok: 1,
          requests_client_error: 1,
          requests_server_error: 2,
          tokens_in: 40,
          tokens_out: 80,
          tokens_total: 120,
          cached_tokens: 16,
          cached_share: 0.4,
          estimated_requests: 1,
          upstream_requests: 3,
          search_units: 7,
          media_count: 3,
          media_bytes: 8192,
          cost: 0.750000001,
          last_at: now - 60,
        },
      ],
    })
  })

  test('a window without rows has no sums', async () => {
    expect(await sums('')).toMatchObject({ groups: [], truncated: false })
  })

  test.each([
    ['key_id', { keyId: 'wanted' }],
    ['group_id', { groupId: 'wanted' }],
    ['model', { model: 'wanted' }],
    ['provider', { provider: 'wanted' }],
  ])('the sums cover only the rows that %s selects', async (parameter, change) => {
    await addRows(store, {}, change)
    const { groups } = await sums(`group_by=total&${parameter}=wanted`)
    expect(groups).toMatchObject([{ requests: 1 }])
  })

  test('the sums cover only the rows of the given capability', async () => {
    await addRows(store, {}, { capability: 'rerank' })
    expect(await sums('group_by=capability&capability=rerank')).toMatchObject({
      groups: [{ group: 'rerank', requests: 1 }],
    })
  })

  test('the sums cover only the rows of the given API', async () => {
    await addRows(store, {}, { api: 'messages' })
    expect(await sums('group_by=api&api=messages')).toMatchObject({
      groups: [{ group: 'messages', requests: 1 }],
    })
  })

  test.each([
    ['model', 'm'],
    ['model_used', 'm2'],
    ['provider', 'p'],
    ['capability', 'chat'],
    ['api', 'chat'],
    ['key_id', usageRow.keyId],
    ['group_id', ''],
    ['status', '200'],
    ['total', 'total'],
  ])('the sums are grouped by %s', async (grouping, group) => {
    await addRows(store, { modelUsed: 'm2' })
    expect(await sums(`group_by=${grouping}`)).toMatchObject({
      group_by: grouping,
      groups: [{ group }],
    })
  })

  test('the sums are truncated to the groups with the highest cost, and say so', async () => {
    const costs = [3n, 1n, 2n].map((cost) => ({ model: `m${cost}`, cost: cost as NanoUsd }))
    await addRows(store, ...costs)
    expect(await sums('limit=2')).toMatchObject({
      truncated: true,
      groups: [{ group: 'm3' }, { group: 'm2' }],
    })
    expect(await sums('limit=3')).toMatchObject({ truncated: false })
  })

  test('at most a hundred sums are returned when no limit is given', async () => {
    await addRows(store, ...Array.from({ length: 101 }, (_, i) => ({ model: `m${i}` })))
    const { groups, truncated } = await sums('')
    expect([groups.length, truncated]).toEqual([100, true])
  })
})

describe('the intervals', () => {
  const at = (time: string) => Date.parse(time) / 1000
  const year = 'since=2025-01-01T00:00:00Z'

  test('a sum has its intervals with rows, in the order of time', async () => {
    await addRows(
      store,
      { ts: at('2025-11-23T23:59:59Z'), model: 'a' },
      { ts: at('2025-11-22T00:00:00Z'), model: 'a' },
      { ts: at('2025-11-23T00:00:00Z'), model: 'a', cost: 1n as NanoUsd },
      { ts: at('2025-11-23T12:00:00Z'), model: 'b' },
    )
    const { interval, groups } = await sums(`${year}&interval=day`)
    expect(interval).toBe('day')
    expect(groups).toMatchObject([
      { group: 'a', requests: 3 },
      { group: 'b', requests: 1 },
    ])
    expect(groups[0].intervals).toEqual([
      {
        start: at('2025-11-22T00:00Z'),
        requests: 1,
        tokens_in: 10,
        tokens_out: 20,
        cached_tokens: 4,
        cost: 0.25,
      },
      {
        start: at('2025-11-23T00:00Z'),
        requests: 2,
        tokens_in: 20,
        tokens_out: 40,
        cached_tokens: 8,
        cost: 0.250000001,
      },
    ])
    expect(groups[1].intervals).toHaveLength(1)
  })

  test.each([
    ['hour', '2025-11-22T13:00:00Z'],
    ['day', '2025-11-22T00:00:00Z'],
    ['week', '2025-11-17T00:00:00Z'],
    ['month', '2025-11-01T00:00:00Z'],
  ])('an interval of one %s begins with it, in UTC', async (interval, start) => {
    await addRows(store, { ts: at('2025-11-22T13:14:15Z') })
    const { groups } = await sums(`${year}&interval=${interval}`)
    expect(groups[0].intervals).toMatchObject([{ start: at(start) }])
  })

  test('only the intervals of the shown groups are read', async () => {
    await addRows(store, { model: 'a', cost: 2n as NanoUsd }, { model: 'b', cost: 1n as NanoUsd })
    const { groups } = await sums('interval=hour&limit=1')
    expect(groups).toMatchObject([{ group: 'a', intervals: [{ requests: 1 }] }])
  })

  test('more than 50,000 intervals are refused', async () => {
    const rows = (count: number) =>
      Array.from({ length: count }, (_, hour) => ({ ts: hour * 3600 }))
    await addRows(store, ...rows(50_000))
    expect((await sums('since=0&interval=hour')).groups[0].intervals).toHaveLength(50_000)
    await addRows(store, { ts: 50_000 * 3600 })
    await expect(sums('since=0&interval=hour')).rejects.toMatchObject({
      code: 'LM-1001',
      message: /more than 50000; take a longer one/,
    })
  })
})

describe('the window', () => {
  test('the window includes both of its ends', async () => {
    await addRows(store, { ts: 99 }, { ts: 100 }, { ts: 200 }, { ts: 201 })
    expect(await sums('since=100&until=200')).toMatchObject({ groups: [{ requests: 2 }] })
  })

  test('the window begins a day before until when since is not given', async () => {
    expect(await sums('until=1000000')).toMatchObject({ since: 913_600, until: 1_000_000 })
  })

  test.each([
    ['1763999940', 1_763_999_940],
    ['1763999940.75', 1_763_999_940],
    ['-1.5', -2],
    ['2025-11-24T16:00:00Z', now],
    ['2025-11-24t16:00:00.999z', now],
    ['2025-11-24T21:30:00%2B05:30', now],
    ['2025-11-24T11:00:00-05:00', now],
    ['2024-02-29T00:00:00Z', 1_709_164_800],
  ])('the window can begin at %s', async (since, seconds) => {
    expect(await sums(`since=${since}`)).toMatchObject({ since: seconds })
  })

  test.each([
    ['yesterday', /must be unix seconds, or an RFC 3339 time such as/],
    ['', /must be unix seconds/],
    ['1e9', /must be unix seconds/],
    ['2025-11-24', /must be unix seconds/],
    ['2025-11-24T16:00Z', /must be unix seconds/],
    ['1763999940000', /milliseconds/],
    ['2025-11-24T16:00:00', /must end with its offset/],
    ['2025-11-24T16:00:00.5', /must end with its offset/],
    ['2025-11-24T16:00:00%2B0100', /must end with its offset/],
    ['2025-11-24T16:00:00+01:00', /has a blank for the sign of its offset.*%2B/],
    ['2025-11-24T16:00:00.5+01:00', /has a blank for the sign of its offset/],
    ['2026-02-30T00:00:00Z', /does not exist/],
    ['2100-02-29T00:00:00Z', /does not exist/],
    ['2025-11-24T24:00:00Z', /does not exist/],
    ['2025-11-24T16:00:00-24:00', /does not exist/],
  ])('the window cannot begin or end at %j', async (time, message) => {
    await expectRefusal(`since=${time}`, 'since', message)
    await expectRefusal(`until=${time}`, 'until', message)
  })

  test('the window must not end before it begins', async () => {
    await expectRefusal('since=200&until=199', 'since', /must not be after until/)
    await expectRefusal(`since=${now + 1}`, 'since', /which defaults to now/)
    expect(await sums('since=200&until=200')).toMatchObject({ since: 200, until: 200 })
  })
})

describe('a query is refused', () => {
  test.each([
    ['key_id=', 'key_id', /must not be empty/],
    ['capability=speech', 'capability', /one of chat, embed, rerank, decisions$/],
    [
      'api=embed',
      'api',
      /one of chat, messages, responses, completions, gemini, embeddings, rerank, decisions$/,
    ],
    ['group_by=Model', 'group_by', /one of model, model_used, .*, total$/],
    ['interval=year', 'interval', /one of hour, day, week, month$/],
    ['limit=0', 'limit', /whole number from 1 to 1000$/],
    ['limit=1001', 'limit', /whole number from 1 to 1000$/],
    ['limit=1.5', 'limit', /whole number/],
    ['limit=', 'limit', /whole number/],
    ['limit=1&limit=2', 'limit', /more than once/],
    ['cursor=1', 'cursor', /unknown parameter; this route takes key_id, .*, limit$/],
    ['__proto__=1', '__proto__', /unknown parameter/],
  ])('%s', (query, param, message) => expectRefusal(query, param, message))

  test('a refused query is not repeated in the error', async () => {
    const error = await sums('limit=secret').catch((reason: unknown) => reason)
    expect(String(error)).not.toContain('secret')
  })
})

test('an unreachable database is not reported as an error of the query', async () => {
  store.trouble = 'refuse'
  await expect(sums('')).rejects.toBeInstanceOf(StoreFault)
  await expect(getUsage('/admin/usage/export', { store, clock })).rejects.toBeInstanceOf(StoreFault)
})

function sums(query: string) {
  return getUsage(`/admin/usage?${query}`, { store, clock })
}

async function expectRefusal(query: string, param: string, message: RegExp) {
  const error = await sums(query).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(GatewayError)
  expect(error).toMatchObject({ code: 'LM-1001', status: 400, detail: { param } })
  expect((error as GatewayError).message).toMatch(message)
  expect(store.calls).not.toContain('sumUsage')
}
