import { readdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { finished } from './support/command.ts'
import { timed } from './support/servers.ts'
import type { ShippedGateway } from './support/shipped-gateway.ts'
import { locked, started, stopped } from './support/stopping.ts'
import { valueOf } from './support/store.ts'

/** Sends requests one after the other; each must succeed. */
async function ask({ address, client }: ShippedGateway, count: number, metadata = '{}') {
  for (let request = 0; request < count; request++) {
    const response = await fetch(`${address}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...client, 'x-gateway-metadata': metadata },
      body: '{"model":"m","messages":[{"role":"user","content":"Hi"}]}',
    })
    expect(response.status).toBe(200)
    await response.arrayBuffer()
  }
}

const rowCount = 'select count(*) from usage_log'
const unexplained = `
  select budget_spent_usd * 1000000000 + budget_spent_nano -
    (select coalesce(sum(cost_usd * 1000000000 + cost_nano), 0) from usage_log)
  from virtual_keys`

describe('a gateway that is stopped', () => {
  test('a stopped gateway saves everything and exits with 0', async () => {
    const gateway = await started()
    await ask(gateway, 5)
    const { stdout, ...end } = await stopped(gateway)
    expect(end).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({ msg: 'stopped' })
    expect(await valueOf(gateway.database, rowCount)).toBe(5)
    expect(await valueOf(gateway.database, unexplained)).toBe(0)
  })

  test('a stopped gateway waits for a locked database and exits with 0', async () => {
    const gateway = await started()
    const release = await locked(gateway)
    await ask(gateway, 5)
    const stopping = stopped(gateway)
    await sleep(1_000)
    await release()
    expect(await stopping).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(await valueOf(gateway.database, rowCount)).toBe(5)
    expect(await valueOf(gateway.database, unexplained)).toBe(0)
  })

  test('a stopped gateway leaves its usage in the journal and exits with 0 if the database stays locked', async () => {
    const gateway = await started()
    const release = await locked(gateway)
    await ask(gateway, 5)
    const { time, stdout, ...end } = await stopped(gateway)
    expect(end).toEqual({ code: 0, signal: null, stderr: '' })
    expect(time).toBeLessThan(10_000)
    const kept = stdout.split('\n').find((line) => line.includes('usage is not saved yet'))
    expect(JSON.parse(kept ?? '')).toMatchObject({ level: 'warn', rows: 5, spend_usd: 0.055 })
    const files = readdirSync(dirname(gateway.database))
    expect(files).toContainEqual(expect.stringMatching(/^gateway\.db-unsaved-1-\d+$/))
    await release()
    expect(await valueOf(gateway.database, 'pragma integrity_check')).toBe('ok')
  })

  test('a second signal ends the process at once with 1', async () => {
    const gateway = await started()
    await locked(gateway)
    await ask(gateway, 5)
    gateway.process.kill('SIGTERM')
    await gateway.until(/shutting down/)
    // By then it tries to save.
    await sleep(500)
    const { time, ...end } = await stopped(gateway)
    expect(end).toMatchObject({ code: 1, signal: null, stderr: '' })
    expect(time).toBeLessThan(2_000)
  })

  test('a stopped gateway with a stuck log reader saves everything and exits with 0', async () => {
    const gateway = await started()
    gateway.process.stdout?.pause()
    // More than any pipe holds.
    const labels = Array.from({ length: 14 }, (_, at) => [`k${at}`, 'x'.repeat(240)])
    const metadata = JSON.stringify(Object.fromEntries(labels))
    await ask(gateway, 300, metadata)
    gateway.process.kill('SIGTERM')
    const exited = new Promise((resolve) => gateway.process.once('exit', resolve))
    expect(await timed(exited)).toBeLessThan(10_000)
    gateway.process.stdout?.resume()
    expect(await finished(gateway)).toMatchObject({ code: 0, stderr: '' })
    expect(gateway.process.signalCode).toBe(null)
    expect(await valueOf(gateway.database, rowCount)).toBe(300)
  })

  test('a stopped gateway whose log reader has left saves everything and exits with 0', async () => {
    const gateway = await started()
    gateway.process.stdout?.destroy()
    await ask(gateway, 5)
    expect(await stopped(gateway)).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(await valueOf(gateway.database, rowCount)).toBe(5)
  })

  test('a stopped gateway whose database file was deleted saves into a new file', async () => {
    const gateway = await started()
    await ask(gateway, 3)
    rmSync(gateway.database)
    const { code, signal } = await stopped(gateway)
    expect({ code, signal }).toEqual({ code: 0, signal: null })
    expect(await valueOf(gateway.database, rowCount)).toBe(3)
  })

  test('a stopped gateway with a full disk exits with 1 and reports the lost usage', async () => {
    const gateway = await started({ blocks: 256 })
    let saved = -1
    // Until the database is as long as a file may be.
    for (let before = -2; saved !== before; ) {
      before = saved
      await ask(gateway, 100)
      await sleep(2_500)
      saved = Number(await valueOf(gateway.database, rowCount))
    }
    // Then the journal too.
    for (let label = 0; label < 100; label++) {
      const labels = Array.from({ length: 14 }, (_, at) => [`k${at}`, `${label}`.padEnd(240)])
      await ask(gateway, 1, JSON.stringify(Object.fromEntries(labels)))
    }
    const { time, stdout, ...end } = await stopped(gateway)
    expect(end).toMatchObject({ code: 1, signal: null })
    expect(time).toBeLessThan(10_000)
    expect(stdout).toMatch(/"rows":[1-9]\d*,"spend_usd":.*"msg":"usage is lost/)
    expect(await valueOf(gateway.database, 'pragma integrity_check')).toBe('ok')
    expect(await valueOf(gateway.database, unexplained)).toBe(0)
  }, 60_000)
})
