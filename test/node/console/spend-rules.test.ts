import { describe, expect, test } from 'vitest'
import { toCsv } from '../../../adapters/node/console/page/spend-csv.ts'
import { findBelow } from '../../../adapters/node/console/page/spend-dimensions.ts'
import { listStarts, readSpan } from '../../../adapters/node/console/page/spend-span.ts'
import type { Sums } from '../../../adapters/node/console/page/spend-sums.ts'

const utc = (text: string) => Date.parse(text) / 1000

/** A Saturday. */
const now = utc('2026-11-28T15:30:00Z')

const read = (query: string, at = now) => readSpan(new URLSearchParams(query), at)

describe('the time of the spend', () => {
  test.each([
    ['', '2026-11-27T16:00:00Z', '2026-11-28T16:00:00Z', 24, 'in the last 24 hours'],
    ['span=unknown', '2026-11-27T16:00:00Z', '2026-11-28T16:00:00Z', 24, 'in the last 24 hours'],
    ['span=7d', '2026-11-22T00:00:00Z', '2026-11-29T00:00:00Z', 7, 'in the last 7 days'],
    ['span=30d', '2026-10-30T00:00:00Z', '2026-11-29T00:00:00Z', 30, 'in the last 30 days'],
    ['span=month', '2026-11-01T00:00:00Z', '2026-11-29T00:00:00Z', 28, 'this month'],
    ['span=last-month', '2026-10-01T00:00:00Z', '2026-11-01T00:00:00Z', 31, 'last month'],
    [
      'span=dates&from=2026-11-03&to=2026-11-05',
      '2026-11-03T00:00:00Z',
      '2026-11-06T00:00:00Z',
      3,
      'from 3 Nov to 5 Nov',
    ],
    [
      'span=dates&from=2026-11-03&to=2026-11-03',
      '2026-11-03T00:00:00Z',
      '2026-11-04T00:00:00Z',
      24,
      'on 3 Nov',
    ],
  ])('%s', (query, since, until, intervals, words) => {
    const span = read(query)
    if (typeof span === 'string') throw new Error(span)
    expect(span).toMatchObject({ since: utc(since), until: utc(until), words })
    const starts = listStarts(span)
    expect(starts).toHaveLength(intervals)
    expect(starts[0]).toBe(span.since)
    expect((starts.at(-1) ?? 0) + span.interval.seconds).toBe(span.until)
  })

  test('the month before January is December', () => {
    expect(read('span=last-month', utc('2027-01-10T00:00:00Z'))).toMatchObject({
      since: utc('2026-12-01T00:00:00Z'),
      until: utc('2027-01-01T00:00:00Z'),
    })
  })

  test.each([
    ['', 'Choose the first and the last day.'],
    ['&from=2026-11-05&to=yesterday', 'Choose the first and the last day.'],
    ['&from=2026-11-05&to=2026-11-04', 'The first day is after the last.'],
    ['&from=2025-11-05&to=2026-11-06', 'Choose at most 366 days.'],
  ])('own dates%s: %s', (query, problem) => {
    expect(read(`span=dates${query}`)).toBe(problem)
  })
})

test('a row leads to what its sum is made of, and never to what the sum is narrowed to', () => {
  expect(findBelow('group', {})).toBe('key')
  expect(findBelow('key', { group: 'g' })).toBe('model')
  expect(findBelow('model', { group: 'g', key: 'k' })).toBe('provider')
  expect(findBelow('provider', { group: 'g', key: 'k', model: 'm' })).toBeUndefined()
})

test('the file has the names and the unrounded sums, and no field that a spreadsheet would run', () => {
  const sum = {
    requests: 7,
    requests_ok: 4,
    requests_client_error: 2,
    requests_server_error: 1,
    tokens_in: 30,
    tokens_out: 20,
    last_at: now,
    intervals: [],
  }
  const groups = [
    { ...sum, group: 'a1', cost: 0.750000001 },
    { ...sum, group: 'b2', cost: 0 },
    { ...sum, group: '', cost: 12_345_678 },
  ]
  const names: Record<string, string> = { a1: 'search, "old"', b2: '=cmd|x', '': 'none' }
  const sums = { by: 'key', groups } as unknown as Sums
  expect(toCsv(sums, (id) => names[id] ?? id)).toBe(
    [
      'key,id,cost_usd,requests,served,refused,failed,tokens_in,tokens_out',
      '"search, ""old""",a1,0.750000001,7,4,2,1,30,20',
      "'=cmd|x,b2,0,7,4,2,1,30,20",
      'none,,12345678,7,4,2,1,30,20',
      '',
    ].join('\r\n'),
  )
})
