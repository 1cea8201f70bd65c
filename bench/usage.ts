/**
 * `npm run bench:usage`: the usage log of a million rows. Prints how fast rows are written, and what
 * an aggregate over a day and a page of the export take, in milliseconds, as the main thread sees
 * them: the median of the runs, and the slowest. First with the rows spread over 30 days, then with
 * all of them in one.
 *
 * `--rows 100000` for fewer rows, `--runs 5` for fewer runs. It needs 300 MB of disk.
 */

import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openNodeStore } from '../adapters/node/ports/store.ts'
import type { NanoUsd } from '../src/core/ids.ts'
import type { NewUsageRow, Store, UsageGrouping } from '../src/store/index.ts'
import { median } from './measure.ts'

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    runs: { type: 'string', default: '7' },
  },
})
const total = Number(options.rows)
const runs = Number(options.runs)

const day = 86_400
const begin = 1_750_000_000
/** Rows of one call: the default of `auth.usage_batch_max`. */
const batchSize = 500
const pageSize = 10_000

for (const days of [30, 1]) await measure(days)

async function measure(days: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-usage-'))
  const path = join(folder, 'gateway.db')
  try {
    const store = await openNodeStore({ path, token: undefined })
    const seconds = await fill(store, days)
    await store.close()
    console.log(`\n${total} rows over ${days} day(s), ${megabytes(path)} MB`)
    console.log(`written: ${Math.round(total / seconds)} rows/s, ${batchSize} rows a call`)
    const started = performance.now()
    const again = await openNodeStore({ path, token: undefined })
    console.log(`opened and checked: ${(performance.now() - started).toFixed(0)} ms`)
    console.table([...(await aggregates(again, days)), ...(await pages(again, days))])
    await again.close()
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function fill(store: Store, days: number): Promise<number> {
  const started = performance.now()
  for (let start = 0; start < total; start += batchSize) {
    const length = Math.min(batchSize, total - start)
    const rows = Array.from({ length }, (_, at) => row(start + at, days))
    await store.addUsage({ id: `batch ${start}`, rows })
  }
  return (performance.now() - started) / 1_000
}

function row(at: number, days: number): NewUsageRow {
  const isRefused = at % 50 === 0
  const hex = (at * 2_654_435_761).toString(16).padStart(32, '0')
  return {
    // Now and then a row is written after one that ended later.
    ts: begin + Math.floor((at * days * day) / total) - (at % 7 === 0 ? 1 : 0),
    requestId: hex,
    keyId: (at % 200).toString(16).padStart(32, '0'),
    groupId: at % 3 === 0 ? null : (at % 7).toString(16).padStart(32, '0'),
    model: `gpt-4o-mini-${at % 20}`,
    modelUsed: isRefused ? null : `gpt-4o-mini-${at % 20}`,
    provider: `openai-${at % 3}`,
    capability: 'chat',
    stream: at % 2 === 0,
    tokensIn: 500 + (at % 1_000),
    tokensOut: 200,
    tokensTotal: 700 + (at % 1_000),
    estimated: at % 5 === 0,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    searchUnits: 0,
    mediaCount: 0,
    mediaBytes: 0,
    cost: BigInt(1_500_000 + (at % 100_000)) as NanoUsd,
    latencyMs: 1_234,
    ttftMs: 200,
    attempts: 1,
    status: isRefused ? 429 : 200,
    errorCode: isRefused ? 'LM-4002' : null,
    metadata: at % 4 === 0 ? { team: 'search', user: 'u123' } : {},
  }
}

function windows(days: number): Map<string, { readonly since: number; readonly until: number }> {
  const last = days - 1
  const starts = new Map([
    ['first day', 0],
    ['day in the middle', Math.floor(last / 2)],
    ['last day', last],
  ])
  const named = Array.from(starts, ([name, start]) => {
    const since = begin + start * day
    return [days === 1 ? 'the day' : name, { since, until: since + day - 1 }] as const
  })
  return new Map([...named, ['everything', { since: 0, until: begin + days * day }]])
}

async function aggregates(store: Store, days: number) {
  const groupings: readonly UsageGrouping[] = ['model', 'key_id', 'total']
  const results = []
  for (const [name, window] of windows(days)) {
    for (const groupBy of groupings) {
      const query = { ...window, groupBy, limit: 1_000 }
      results.push(await timed(`sum of ${name} by ${groupBy}`, () => store.sumUsage(query)))
    }
  }
  return results
}

async function pages(store: Store, days: number) {
  const results = []
  for (const [name, window] of windows(days)) {
    // One that starts before the window, one in its middle, and one near the end of the table.
    for (const cursor of [0, Math.floor(total / 2), total - 1_000]) {
      const query = { ...window, cursor, limit: pageSize }
      results.push(await timed(`page of ${name} from id ${cursor}`, () => store.listUsage(query)))
    }
  }
  return results
}

async function timed(what: string, work: () => Promise<readonly unknown[]>) {
  const times: number[] = []
  let found = 0
  for (let run = 0; run < runs; run++) {
    const started = performance.now()
    found = (await work()).length
    times.push(performance.now() - started)
  }
  return { what, median: figure(median(times)), slowest: figure(Math.max(...times)), found }
}

function figure(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10
}

function megabytes(path: string): number {
  return Math.round(statSync(path).size / 1e6)
}
