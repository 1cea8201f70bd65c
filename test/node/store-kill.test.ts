import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { seededRandom } from '../support/seeded-random.ts'
import { command } from './support/command.ts'
import { connect, folder, threadEntry } from './support/store.ts'

/**
 * Writes one key, one usage batch and one flush at a time without end, and prints each that is
 * saved.
 */
const writer = (path: string, round: number) => `
  import { openNodeStore } from './adapters/node/ports/store.ts'
  import { newKey, usageRow } from './test/store/support/rows.ts'
  import { usageBatch } from './test/support/usage-batch.ts'
  const entry = new URL(${JSON.stringify(threadEntry.href)})
  const store = await openNodeStore({ path: ${JSON.stringify(path)} }, { entry })
  for (let at = 0; ; at++) {
    const id = '${round}-' + at
    await store.createKey(newKey(id))
    await store.addUsage(usageBatch(id, Array(20).fill(usageRow({ requestId: id }))))
    await store.addSpend({ id: 's' + id, additions: [{ scope: 'key', id, amount: 1_000_000_001n }] })
    console.log(id)
  }
`

test('a process that is killed while it writes leaves an intact database with all acknowledged rows', async () => {
  const random = seededRandom()
  const directory = folder()
  const path = join(directory, 'gateway.db')
  const acknowledged: string[] = []
  for (let round = 0; round < 5; round++) {
    const script = join(directory, `writer-${round}.mjs`)
    await build({
      stdin: { contents: writer(path, round), resolveDir: process.cwd(), loader: 'ts' },
      outfile: script,
      bundle: true,
      format: 'esm',
      platform: 'node',
    })
    const running = command([script])
    await running.until(/^\d-\d+\n/)
    await sleep(50 + random() * 300)
    const gone = new Promise((resolve) => running.process.once('close', resolve))
    running.process.kill('SIGKILL')
    await gone
    // The last line may be incomplete.
    acknowledged.push(...running.output.stdout.split('\n').slice(0, -1))
    const { rows } = await connect(path).execute('pragma integrity_check')
    expect(rows[0]?.[0]).toBe('ok')
  }
  const { rows } = await connect(path).execute(`
    select id from virtual_keys where budget_spent_usd = 1 and budget_spent_nano = 1
      and (select count(*) from usage_log where request_id = virtual_keys.id) = 20
  `)
  const found = new Set(rows.map((row) => row[0]))
  expect(acknowledged.filter((id) => !found.has(id))).toEqual([])
  expect(acknowledged.length).toBeGreaterThan(5)
  // No batch is written in part.
  const { rows: parts } = await connect(path).execute(
    'select request_id from usage_log group by 1 having count(*) <> 20',
  )
  expect(parts).toEqual([])
}, 60_000)
