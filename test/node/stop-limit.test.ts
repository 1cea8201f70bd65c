import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { locked, started, stopped } from './support/stopping.ts'
import { valueOf } from './support/store.ts'

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
