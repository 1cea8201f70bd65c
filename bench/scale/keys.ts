import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { createClient } from '@libsql/client/sqlite3'
import { openNodeStore } from '../../adapters/node/ports/store.ts'
import type { Bytes, Millis } from '../../src/core/ids.ts'
import { bundlePath } from '../bundle.ts'
import { residentMegabytes } from '../measure.ts'
import { freePort, getPid, isHealthy, startNode, stop, waitUntil } from '../processes.ts'

/** What keys cost a gateway that holds all of them in memory. */
export interface KeyCost {
  readonly count: number
  /** Resident memory for each key. */
  readonly bytes: Bytes
  /** From the spawn to the first 200 of `/health`, with one key and with all of them. */
  readonly startWithOne: Millis
  readonly startWithAll: Millis
}

/** Starts a gateway on a database with one key and on one with `count` keys. */
export async function measureKeys(count: number): Promise<KeyCost> {
  const one = await startWith(1)
  const all = await startWith(count)
  return {
    count,
    bytes: ((all.megabytes - one.megabytes) * 1e6) / count,
    startWithOne: one.start,
    startWithAll: all.start,
  }
}

async function startWith(count: number): Promise<{ start: Millis; megabytes: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-scale-'))
  const port = await freePort()
  try {
    await fill(join(folder, 'gateway.db'), count)
    writeFileSync(join(folder, 'config.toml'), config(port))
    const started = performance.now()
    const gateway = startNode([bundlePath], {
      cwd: folder,
      env: { PATH: process.env['PATH'], GATEWAY_MASTER_KEY: 'be'.repeat(32) },
    })
    await waitUntil(() => isHealthy(port), gateway)
    const start = performance.now() - started
    await sleep(2_000)
    const megabytes = residentMegabytes(getPid(gateway))
    await stop(gateway)
    return { start, megabytes }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Creates the database, and keys with every limit in it. */
async function fill(path: string, count: number): Promise<void> {
  const store = await openNodeStore({ path, token: undefined })
  await store.close()
  const client = createClient({ url: pathToFileURL(path).href })
  await client.execute({
    sql: `insert into virtual_keys
        (id, digest, name, budget_max_usd, budget_max_nano, rpm_limit, tpm_limit, disabled, created_at)
      select lower(hex(randomblob(16))), lower(hex(randomblob(32))), 'key ' || value, 100, 0, 600, 100000, 0, 0
      from (with recursive counter(value) as (select 1 union all select value + 1 from counter where value < ?)
        select value from counter)`,
    args: [count],
  })
  client.close()
}

function config(port: number): string {
  return `
log_format = "json"
[server]
port = ${port}
[auth]
enabled = true
[[providers]]
name = "demo"
kind = "demo"
models = [{ id = "demo" }]
`
}
