import { expect, onTestFinished, test } from 'vitest'
import { startDemo } from '../../../adapters/node/console/demo.ts'
import type { Status } from '../../../adapters/node/console/page/shapes.ts'

test('the demo begins with an hour of requests, few of which are refused, and with its keys', async () => {
  const before = Date.now() / 1000
  const demo = await startDemo()
  onTestFinished(() => demo.close())
  const read = async (path: string) => {
    const headers = { authorization: `Bearer ${demo.masterKey}` }
    return (await fetch(`${demo.address}/admin/${path}`, { headers })).json()
  }
  const status: Status = await read('status')
  // The first minute of the hour has ended by now.
  const filled = status.minutes.filter(({ requests_ok: count }) => count > 0)
  expect(filled.length).toBeGreaterThanOrEqual(58)
  expect(Math.abs(status.now - before)).toBeLessThan(30)
  expect(status.now - status.started_at).toBeGreaterThanOrEqual(3600)
  const sum = (pick: (minute: Status['minutes'][number]) => number) =>
    status.minutes.reduce((total, minute) => total + pick(minute), 0)
  const refused = sum((minute) => minute.requests_client_error)
  expect(refused).toBeGreaterThan(0)
  expect(refused / sum((minute) => minute.requests_ok)).toBeLessThan(0.06)
  const { keys } = await read('keys')
  // What the keys may spend lasts for a day of such requests.
  for (const key of keys.filter(({ name }: { name: string }) => name !== 'trial')) {
    const { budget_max: max, budget_spent: spent } = key
    if (max !== null) expect(max / spent).toBeGreaterThan(24)
  }
})
