import { readdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildPackage, finished, type Package } from './support/command.ts'
import { timed } from './support/servers.ts'
import { configFolder, type ShippedGateway, shippedGateway } from './support/shipped-gateway.ts'
import { connect, valueOf } from './support/store.ts'

let built: Package

beforeAll(async () => {
  built = await buildPackage()
})

afterAll(() => built.remove())

const config = `
  [auth]
  enabled = true
  [[providers]]
  name = "demo"
  kind = "demo"
  models = [{ id = "m", cost_per_1m_output = 1000 }]
  [[providers]]
  name = "endless"
  kind = "demo"
  tokens_per_second = 0.001
  models = [{ id = "endless", cost_per_1m_output = 1000 }]
`

/** A gateway whose database nothing else uses yet. */
function started(options: { readonly blocks?: number } = {}): Promise<ShippedGateway> {
  return shippedGateway(built.executable, configFolder(config).path, options)
}

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

/** Keeps a lock that nothing can be written under; returns the way to give it back. */
async function locked({ database }: ShippedGateway): Promise<() => Promise<void>> {
  const transaction = await connect(database).transaction('write')
  return () => transaction.rollback()
}

/** The end of a process: its code, the signal that has killed it, and how long it took. */
async function stopped(gateway: ShippedGateway) {
  gateway.process.kill('SIGTERM')
  const time = await timed(finished(gateway))
  const { code, stdout, stderr } = await finished(gateway)
  return { code, signal: gateway.process.signalCode, time, stdout, stderr }
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
    expect(await stopped(gateway)).toMatchObject({ code: 0, signal: null, stderr: '' })
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

  test('a stopped gateway with an endless stream exits within 35 s and saves its row if possible', async () => {
    const gateways = await Promise.all([started(), started()])
    const streams = gateways.map(async ({ address, client }) => {
      const body = '{"model":"endless","stream":true,"messages":[{"role":"user","content":"Hi"}]}'
      const init = { method: 'POST', headers: client, body }
      return (await fetch(`${address}/v1/chat/completions`, init)).text()
    })
    await sleep(500)
    const [open, shut] = gateways
    await locked(shut)
    const [good, bad] = await Promise.all([stopped(open), stopped(shut)])
    expect(good).toMatchObject({ code: 0, signal: null })
    expect(bad).toMatchObject({ code: 0, signal: null })
    expect(Math.max(good.time, bad.time)).toBeLessThan(35_000)
    for (const text of await Promise.all(streams)) expect(text).toMatch(/"code":"LM-3010"/)
    expect(await valueOf(open.database, 'select status from usage_log')).toBe(502)
  }, 60_000)
})
