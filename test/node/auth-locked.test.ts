import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { type HostAnswer, keyedHost } from './support/keyed-host.ts'
import { connect, folder, threadEntry, valueOf } from './support/store.ts'

const config = `
  [[providers]]
  name = "demo"
  kind = "demo"
  models = [{ id = "m", cost_per_1m_output = 1000 }]
`

const spent = 'select budget_spent_usd * 1000000000 + budget_spent_nano from virtual_keys'

test('while another process locks the database, an admin change fails within seconds with the reason', async () => {
  const path = join(folder(), 'gateway.db')
  const env = { GATEWAY_AUTH__FLUSH_INTERVAL_MS: '50' }
  const host = await keyedHost({ path, config, entry: threadEntry, env })
  const { id, key } = await host.key()
  const other = await connect(path).transaction('write')
  // Unwritten rows precede the changes.
  await host.chat(key)
  await sleep(200)
  const start = performance.now()
  const answers = await Promise.all([
    host.admin('POST', '/admin/keys', { name: 'b' }),
    host.admin('PATCH', `/admin/keys/${id}`, { name: 'c' }),
    host.admin('POST', `/admin/keys/${id}/rotate`),
  ])
  expect(performance.now() - start).toBeLessThan(6_000)
  for (const { status, headers, body } of answers) {
    expect([status, headers.get('retry-after')]).toEqual([503, '1'])
    expect(body['error']).toMatchObject({
      code: 'LM-5003',
      message: 'the database is locked by another process; try again',
    })
  }
  // Reading does not need the lock.
  expect((await host.admin('GET', '/admin/usage')).status).toBe(200)
  await other.rollback()
  expect((await host.admin('PATCH', `/admin/keys/${id}`, { name: 'c' })).status).toBe(200)
}, 20_000)

test('while another process locks the database, requests are served and their usage is written afterwards', async () => {
  const path = join(folder(), 'gateway.db')
  const env = { GATEWAY_AUTH__FLUSH_INTERVAL_MS: '50' }
  const host = await keyedHost({ path, config, entry: threadEntry, env, timeout: 500 })
  const { id, key } = await host.key({ budget_max: 100 })
  const other = await connect(path).transaction('write')

  const answers: HostAnswer[] = []
  const latencies: number[] = []
  // Longer than the retries of the store, so that flushes fail as well.
  const until = performance.now() + 4_500
  while (performance.now() < until) {
    const start = performance.now()
    answers.push(await host.chat(key))
    latencies.push(performance.now() - start)
    await sleep(20)
  }
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect(latencies.sort((a, b) => a - b)[Math.floor(latencies.length * 0.9)]).toBeLessThan(200)
  await other.rollback()

  const { body } = await host.admin('GET', `/admin/keys/${id}`)
  const inMemory = Math.round(Number(body['budget_spent']) * 1e9)
  await vi.waitFor(
    async () => {
      expect(await valueOf(path, spent)).toBe(inMemory)
      expect(await valueOf(path, 'select count(*) from usage_log')).toBe(answers.length)
    },
    { timeout: 10_000, interval: 100 },
  )
  expect(await valueOf(path, 'select sum(cost_usd * 1000000000 + cost_nano) from usage_log')).toBe(
    inMemory,
  )
}, 40_000)
