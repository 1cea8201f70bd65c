import { beforeEach, expect, test } from 'vitest'
import type { NanoUsd } from '../../src/core/ids.ts'
import { type Clock, headerEntries } from '../../src/core/ports.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { addRows, getUsage, readAnswer, usageRow } from '../support/usage.ts'

const clock = new ManualClock()
let store: MemoryStore

beforeEach(() => {
  store = new MemoryStore()
})

test('a row has every field, in the documented order', async () => {
  await addRows(store, {})
  const { rows } = await page('')
  expect(JSON.stringify(rows)).toBe(
    JSON.stringify([
      {
        id: 1,
        ts: usageRow.ts,
        request_id: 'request-1',
        key_id: usageRow.keyId,
        group_id: null,
        model: 'm',
        model_used: 'm',
        provider: 'p',
        capability: 'chat',
        api: 'chat',
        stream: true,
        tokens_in: 10,
        tokens_out: 20,
        tokens_total: 30,
        estimated: false,
        cached_tokens: 4,
        cache_write_tokens: 3,
        reasoning_tokens: 5,
        search_units: 0,
        media_count: 1,
        media_bytes: 2048,
        cost: 0.25,
        latency_ms: 812,
        ttft_ms: 95,
        attempts: 2,
        cache_hit: false,
        status: 200,
        error_code: null,
        metadata: { team: 'search', tier: 2, trial: false },
        tier: null,
        geo: null,
        cache_write_long_tokens: 0,
        audio_tokens_in: null,
        audio_tokens_out: null,
        image_tokens_in: null,
        image_tokens_out: null,
        tool_calls: null,
        cost_source: 'calculated',
        cost_reported: null,
        price: null,
        queued_ms: null,
        price_id: null,
        reserved: null,
        cost_calculated: null,
        cost_repriced: null,
        reason: null,
        failed: [],
      },
    ]),
  )
})

test('costs beyond 2^53 nano-dollars are rounded to the nearest number', async () => {
  await addRows(store, { cost: 9_007_201_723_876_775n as NanoUsd })
  expect(await page('')).toMatchObject({ rows: [{ cost: 9_007_201.723876774 }] })
})

test('text that is not ASCII is complete, with the content length in bytes', async () => {
  await addRows(store, { model: 'modèle-模型' })
  const reply = await readAnswer('/admin/usage/export', { store, clock })
  const { 'content-length': length } = Object.fromEntries(headerEntries(reply))
  expect(length).toBe(String((reply.body as Uint8Array).length))
  expect(await page('')).toMatchObject({ rows: [{ model: 'modèle-模型' }] })
})

test('a window without rows has no next cursor', async () => {
  expect(await page('since=5&until=9')).toEqual({
    since: 5,
    until: 9,
    rows: [],
    next_cursor: null,
  })
})

test('a page that is not full has no next cursor', async () => {
  await addRows(store, {}, {})
  expect(await page('limit=3')).toMatchObject({ rows: [{ id: 1 }, { id: 2 }], next_cursor: null })
})

test('a full page always has a next cursor, so the last page may be empty', async () => {
  await addRows(store, {}, {})
  expect(await page('limit=2')).toMatchObject({ next_cursor: 2 })
  expect(await page('limit=2&cursor=2')).toMatchObject({ rows: [], next_cursor: null })
})

test.each([249, 250, 251])(
  'a page is complete JSON when the window ends at row %i',
  async (count) => {
    await addRows(store, ...Array.from({ length: count }, () => ({})))
    const { rows, next_cursor: next } = await page('limit=700')
    expect([rows.length, next]).toEqual([count, null])
  },
)

test('a page contains only ids above the given cursor', async () => {
  await addRows(store, {}, {}, {})
  expect(await page('cursor=1')).toMatchObject({ rows: [{ id: 2 }, { id: 3 }] })
})

// Limits around the number of rows that are rendered at a time.
test.each([1, 249, 250, 251, 500, 1700])(
  'pages of %i hold every row of the window once',
  async (limit) => {
    const rows = Array.from({ length: 1700 }, (_, i) => ({ ts: i % 17 === 0 ? 1 : 1000 + i }))
    await addRows(store, ...rows)
    const ids: number[] = []
    let cursor: number | null = 0
    // Pages of one row need 1600 calls; a few show the same.
    for (let pages = 0; cursor !== null && pages < 10; pages++) {
      const { rows: found, next_cursor: next } = await page(
        `since=1000&until=9000&limit=${limit}&cursor=${cursor}`,
      )
      expect(found.length).toBeLessThanOrEqual(limit)
      ids.push(...found.map(({ id }: { id: number }) => id))
      cursor = next
    }
    const expected = store.usage.filter(({ ts }) => ts >= 1000).map(({ id }) => id)
    expect(ids).toEqual(expected.slice(0, cursor === null ? undefined : ids.length))
    expect(ids.length).toBe(Math.min(1600, 10 * limit))
  },
)

test('a page has a thousand rows when no limit is given', async () => {
  await addRows(store, ...Array.from({ length: 1001 }, () => ({})))
  const { rows, next_cursor: next } = await page('')
  expect([rows.length, next]).toEqual([1000, 1000])
})

test.each([
  ['limit=10001', 'limit', /from 1 to 10000$/],
  ['limit=0', 'limit', /from 1 to 10000$/],
  ['cursor=-1', 'cursor', /whole number from 0/],
  ['cursor=99999999999999999', 'cursor', /whole number from 0/],
  ['cursor=1.5', 'cursor', /whole number from 0/],
  [
    'group_by=model',
    'group_by',
    /unknown parameter; this route takes since, until, .*, cursor, limit/,
  ],
  ['since=2&until=1', 'since', /must not be after until/],
])('%s is refused and reads nothing', async (query, param, message) => {
  await expect(page(query)).rejects.toMatchObject({
    code: 'LM-1001',
    message: expect.stringMatching(message),
    detail: { param },
  })
  expect(store.calls).toEqual([])
})

test('other work runs while a long page is rendered', async () => {
  await addRows(store, ...Array.from({ length: 10_000 }, () => ({})))
  let time = 0
  let turns = 0
  const slow: Clock = {
    now: () => clock.now(),
    // Every portion takes longer than other work should wait.
    elapsed: () => (time += 10),
    schedule(_, fire) {
      turns++
      setImmediate(fire)
      return { cancel: () => {} }
    },
  }
  await getUsage('/admin/usage/export?limit=10000', { store, clock: slow })
  expect(turns).toBeGreaterThan(60)
})

function page(query: string) {
  return getUsage(`/admin/usage/export?${query}`, { store, clock })
}
