/**
 * `npm run bench:usage`: a usage log of a million rows. Prints how fast rows are written, and how long
 * an aggregate over a day and a page of the export take, in milliseconds, measured in the main
 * thread: the median and the slowest run. First with the rows spread over 30 days, then with
 * all of them in one. Some rows are written like the gateway does, the rest are copies.
 *
 * `--rows 100000` for fewer rows, `--runs 5` for fewer runs, `--days 30` for one of the two. It needs
 * 300 MB of disk. Started by `npm run bench` it sends its figures in a message instead.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { createClient } from '@libsql/client/sqlite3'
import { openNodeStore } from '../adapters/node/ports/store.ts'
import type { NanoUsd } from '../src/core/ids.ts'
import { type NewUsageRow, plainBill, type Store, type UsageGrouping } from '../src/store/index.ts'
import { usageBatch } from '../test/support/usage-batch.ts'
import { median } from './measure.ts'

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    runs: { type: 'string', default: '7' },
    days: { type: 'string', default: '30,1' },
  },
})
const total = Number(options.rows)
const runs = Number(options.runs)

const day = 86_400
const begin = 1_750_000_000
/** Number of rows per call: the default of `auth.usage_batch_max`. */
const batchSize = 500
const pageSize = 10_000

/** How often the written rows are copied. */
const copies = 20
const sample = Math.ceil(total / copies)

export interface UsageFigures {
  readonly rows: number
  /** Rows per second, in calls of the gateway's size. */
  readonly written: number
  /** Time to open and check the database, in milliseconds. */
  readonly opened: number
  /** Aggregates over a day. */
  readonly sums: readonly Timing[]
  /** Aggregates over all rows. */
  readonly wholeSums: readonly Timing[]
  readonly pages: readonly Timing[]
}

export interface Timing {
  readonly what: string
  readonly median: number
  readonly slowest: number
  /** Number of groups or rows in the result. */
  readonly found: number
}

for (const days of options.days.split(',').map(Number)) {
  const figures = await measure(days)
  if (process.send) process.send(figures)
  else print(figures, days)
}

function print(figures: UsageFigures, days: number): void {
  const { rows, written, opened, sums, wholeSums, pages } = figures
  console.log(`\n${rows} rows over ${days} day(s)`)
  console.log(`written: ${written.toFixed(0)} rows/s, ${batchSize} rows a call`)
  console.log(`opened and checked: ${opened.toFixed(0)} ms`)
  console.table([...sums, ...wholeSums, ...pages])
}

async function measure(days: number): Promise<UsageFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-usage-'))
  const path = join(folder, 'gateway.db')
  try {
    const store = await openNodeStore({ path, token: undefined })
    const seconds = await fill(store, days)
    await store.close()
    await multiply(path, days)
    const started = performance.now()
    const again = await openNodeStore({ path, token: undefined })
    const opened = performance.now() - started
    const figures = {
      rows: sample * copies,
      written: sample / seconds,
      opened,
      sums: await aggregates(again, dayWindows(days)),
      wholeSums: await aggregates(again, everything(days)),
      pages: await exportPages(again, days),
    }
    await again.close()
    return figures
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Writes the first rows and returns the seconds that it takes. */
async function fill(store: Store, days: number): Promise<number> {
  const started = performance.now()
  for (let start = 0; start < sample; start += batchSize) {
    const length = Math.min(batchSize, sample - start)
    const rows = Array.from({ length }, (_, at) => row(start + at, days))
    await store.addUsage(usageBatch(`batch ${start}`, rows))
  }
  return (performance.now() - started) / 1_000
}

/** Copies the first rows across the rest of the time span. */
async function multiply(path: string, days: number): Promise<void> {
  const client = createClient({ url: pathToFileURL(path).href })
  const { rows } = await client.execute("select name from pragma_table_info('usage_log')")
  const columns = rows.map(({ name }) => String(name)).filter((name) => name !== 'id')
  const copied = columns.map((name) => (name === 'ts' ? 'ts + ?' : name))
  const sql = `insert into usage_log (${columns}) select ${copied} from usage_log where id <= ${sample}`
  for (let copy = 1; copy < copies; copy++) {
    await client.execute({ sql, args: [Math.floor((copy * days * day) / copies)] })
  }
  client.close()
}

function row(at: number, days: number): NewUsageRow {
  const isRefused = at % 50 === 0
  const hex = (at * 2_654_435_761).toString(16).padStart(32, '0')
  return {
    // Some rows are written after one that ended later.
    ts: begin + Math.floor((at * days * day) / total) - (at % 7 === 0 ? 1 : 0),
    requestId: hex,
    keyId: (at % 200).toString(16).padStart(32, '0'),
    groupId: at % 3 === 0 ? null : (at % 7).toString(16).padStart(32, '0'),
    model: `gpt-4o-mini-${at % 20}`,
    modelUsed: isRefused ? null : `gpt-4o-mini-${at % 20}`,
    provider: `openai-${at % 3}`,
    capability: 'chat',
    api: 'chat',
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
    cacheHit: false,
    status: isRefused ? 429 : 200,
    errorCode: isRefused ? 'LM-4002' : null,
    metadata: at % 4 === 0 ? { team: 'search', user: 'u123' } : {},
    ...plainBill,
    queuedMs: null,
    failure: null,
  }
}

interface Window {
  readonly since: number
  readonly until: number
}

function dayWindows(days: number): Map<string, Window> {
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
  return new Map(named)
}

function everything(days: number): Map<string, Window> {
  return new Map([['everything', { since: 0, until: begin + days * day }]])
}

async function aggregates(store: Store, windows: Map<string, Window>): Promise<Timing[]> {
  const groupings: readonly UsageGrouping[] = ['model', 'key_id', 'total']
  const results = []
  for (const [name, window] of windows) {
    for (const groupBy of groupings) {
      const query = { ...window, groupBy, limit: 1_000 }
      results.push(await timed(`sum of ${name} by ${groupBy}`, () => store.sumUsage(query)))
    }
  }
  return results
}

async function exportPages(store: Store, days: number): Promise<Timing[]> {
  const results = []
  for (const [name, window] of [...dayWindows(days), ...everything(days)]) {
    // One before the window, one in its middle, and one near the end of the table.
    for (const cursor of [0, Math.floor(total / 2), total - 1_000]) {
      const query = { ...window, cursor, limit: pageSize }
      results.push(await timed(`page of ${name} from id ${cursor}`, () => store.listUsage(query)))
    }
  }
  return results
}

async function timed(what: string, work: () => Promise<readonly unknown[]>): Promise<Timing> {
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
