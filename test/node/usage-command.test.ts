import { describe, expect, test } from 'vitest'
import type { AdminClient } from '../../adapters/node/admin/client.ts'
import { readUsage } from '../../adapters/node/commands/usage-query.ts'
import { renderUsage, toCsv } from '../../adapters/node/commands/usage-text.ts'
import { plain } from '../../adapters/node/output/style.ts'
import type { NanoUsd } from '../../src/core/ids.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { addRows, getUsage } from '../support/usage.ts'
import { commandLine } from './support/cli.ts'

const day = 86_400
const start = 20_779 * day

/** An admin API with rows of usage: the day, the group, the cost and the status of a request. */
function adminWith(rows: readonly (readonly [number, string, number, number?])[]): AdminClient {
  return {
    needsReload: false,
    async send(_, path) {
      if (path.startsWith('/admin/keys')) return { keys: [{ id: 'ab'.repeat(16), name: 'team' }] }
      const store = new MemoryStore()
      const usage = rows.map(([at, group, cost, status = 200]) => ({
        ts: start + at * day,
        model: group,
        keyId: group,
        cost: (BigInt(cost * 1e6) * 1000n) as NanoUsd,
        status,
        tokensIn: 1_500,
        cachedTokens: group === 'gpt-5' ? 915 : 0,
        tokensOut: 20,
      }))
      await addRows(store, ...usage)
      return getUsage(path, { store, clock: new ManualClock() })
    },
  }
}

const filters = { since: start, until: start + 7 * day - 1, groupBy: 'model' }
const view = { style: plain, isTerminal: true, limit: 20 }

describe('the table', () => {
  test('shows each group with its cost by day, and the total', async () => {
    const rows = [
      [0, 'gpt-5', 1],
      [2, 'gpt-5', 7, 502],
      [6, 'gpt-5', 2],
      [6, 'small', 0.0125],
    ] as const
    const usage = await readUsage(adminWith(rows), filters)
    expect(await renderUsage(usage, view)).toBe(
      `
Usage from 2026-11-22 00:00Z to 2026-11-28 23:59Z

MODEL  COST BY DAY     COST  SHARE       REQUESTS  FAILED  TOKENS IN  CACHED  TOKENS OUT
gpt-5  ▂▁█▁▁▁▃       $10.00  ██████████         3       1       4.5K     61%          60
small  ▁▁▁▁▁▁█      $0.0125  █░░░░░░░░░         1       0       1.5K      0%          20
total  ▂▁█▁▁▁▄       $10.01                     4       1         6K     45%          80
`.trim(),
    )
  })

  test('names keys, and says how many rows are hidden', async () => {
    const admin = adminWith([
      [0, 'ab'.repeat(16), 2],
      [0, 'cd'.repeat(16), 1],
      [0, '', 1],
    ])
    const usage = await readUsage(admin, { ...filters, groupBy: 'key_id' })
    const text = await renderUsage(usage, { ...view, limit: 1 })
    expect(text).toMatch(/^team abababab /m)
    expect(text).toContain('2 more rows')
    expect(text).not.toContain('cdcd')
  })

  test('without prices the bars show tokens', async () => {
    const usage = await readUsage(adminWith([[0, 'local', 0]]), filters)
    expect(await renderUsage(usage, view)).toContain('TOKENS BY DAY')
  })

  test.each([
    ['hour', 2 * day, 48],
    ['day', 30 * day, 30],
    ['week', 300 * day, 44],
    ['month', 900 * day, 31],
  ])('a bar stands for one %s in a window of %d s', async (interval, window, count) => {
    const until = start + window - 1
    const usage = await readUsage(adminWith([[1, 'm', 1]]), { ...filters, until })
    expect(usage.interval).toBe(interval)
    const [, bars] = /^m +([▁█]+) /m.exec(await renderUsage(usage, view)) ?? []
    expect(bars).toHaveLength(count)
    expect(bars?.replaceAll('▁', '')).toBe('█')
  })

  test('a window without rows says so', async () => {
    const usage = await readUsage(adminWith([]), filters)
    expect(await renderUsage(usage, view)).toMatch(/: none$/)
  })
})

test('CSV has a line of titles, and quotes commas and quotation marks', async () => {
  const usage = await readUsage(adminWith([[0, 'a,"b"', 0.5]]), filters)
  const [titles, line, ...more] = toCsv(usage).split('\n')
  expect(titles).toMatch(/^model,name,requests,.*,cost$/)
  expect(line).toBe('"a,""b""",,1,1,0,0,1500,0,0,20,30,0,0,1,0.5')
  expect(more).toEqual([])
})

test.each(['=HYPERLINK("http://x")', '+1', '-1', '@x', '\t=1', '\r=1'])(
  'CSV does not begin the cell of the text %j as a formula',
  async (text) => {
    const usage = await readUsage(adminWith([[0, text, 0.5]]), filters)
    const [, cells = ''] = /\n([^]*)$/.exec(toCsv(usage)) ?? []
    expect(cells).toMatch(/^"?'/)
  },
)

test('the command shows the usage of a running gateway', async () => {
  const line = await commandLine()
  const { address } = await line.serve()
  const { key } = await line.json('keys', 'create', '--name', 'k')
  const chat = await fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: '{"model":"demo","messages":[{"role":"user","content":"Hi"}]}',
  })
  await chat.text()
  await expect
    .poll(async () => (await line.json('usage', '--since', '1h'))['groups'])
    .toMatchObject([{ group: 'demo', requests: 1 }])
  expect((await line.run('usage', '-g', 'key_id')).stdout).toMatch(
    /^KEY +COST BY DAY[^]*\nk [0-9a-f]{32} +▁+█ /m,
  )
  expect((await line.run('usage', '--csv')).stdout).toMatch(/^model,name,.*\ndemo,,1,1,0,0,/)
  expect((await line.run('usage', '--until', '2026-01-01', '--since', '2025-12-31')).stdout).toBe(
    'Usage from 2025-12-31 00:00Z to 2026-01-01 23:59Z: none\n',
  )
  expect(await line.run('usage', '--json', '--csv')).toMatchObject({ code: 2 })
  expect(await line.run('usage', '-g', 'color')).toMatchObject({ code: 2 })
  expect(await line.run('usage', '--since', '1h', '--until', '2h')).toMatchObject({
    code: 2,
    stderr: 'since: must not be after until, which defaults to now\n',
  })
})
