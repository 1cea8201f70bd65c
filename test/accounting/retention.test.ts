import { expect, test } from 'vitest'
import { Retention } from '../../src/accounting/retention.ts'
import { usageRow } from '../store/support/rows.ts'
import { auditEntry } from '../support/audit.ts'
import { ManualClock, settled } from '../support/manual-clock.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { refusedBatch } from '../support/usage-batch.ts'
import { RecordingLog } from './support.ts'

const day = 86_400
const hour = 3_600_000

function retentionOver(days: number, ages: readonly number[], store = new MemoryStore()) {
  const clock = new ManualClock()
  const log = new RecordingLog()
  const now = clock.now() / 1000
  if (ages.length > 0) store.addRows(ages.map((age) => usageRow({ ts: now - age })))
  const retention = new Retention({ store, clock, log, days })
  return { store, clock, log, retention, left: () => store.usage.map(({ ts }) => now - ts) }
}

function usagePurges({ calls }: MemoryStore): number {
  return calls.filter((name) => name === 'purgeUsage').length
}

test('rows over the retention age are purged at the start', async () => {
  const { left } = retentionOver(30, [31 * day, 30 * day + 1, 30 * day, day])
  await settled()
  expect(left()).toEqual([30 * day, day])
})

test('refused requests over the retention age are purged too', async () => {
  const store = new MemoryStore()
  const now = new ManualClock().now() / 1000
  for (const age of [31, 29]) await store.addRefused(refusedBatch({ ts: now - age * day }))
  retentionOver(30, [], store)
  await settled()
  expect(store.refused).toMatchObject([{ ts: now - 29 * day }])
})

test('rows that reach the retention age are purged every hour', async () => {
  const { clock, left, store } = retentionOver(30, [30 * day - 1_800, day])
  await clock.advance(hour - 1)
  expect(left()).toHaveLength(2)
  await clock.advance(1)
  expect(left()).toEqual([day])
  expect(usagePurges(store)).toBe(2)
})

test('many rows are purged in slices with a pause in between', async () => {
  const { clock, left, store } = retentionOver(
    1,
    Array.from({ length: 4_500 }, () => 2 * day),
  )
  await settled()
  expect(left()).toHaveLength(2_500)
  await clock.advance(49)
  expect(usagePurges(store)).toBe(1)
  await clock.advance(1_000)
  expect(left()).toEqual([])
  expect(usagePurges(store)).toBe(3)
})

test('rows of the audit log are purged at the same age', async () => {
  const { clock, store } = retentionOver(30, [])
  const now = clock.now() / 1000
  for (const age of [40 * day, 29 * day]) await store.addAudit({ ...auditEntry, ts: now - age })
  await clock.advance(hour)
  expect(store.audit.map(({ ts }) => now - ts)).toEqual([29 * day])
})

test('a retention of 0 never purges rows', async () => {
  const { clock, store } = retentionOver(0, [9_999 * day])
  await clock.advance(hour)
  expect([store.calls, clock.pending]).toEqual([[], 0])
})

test('a new retention applies at once', async () => {
  const { clock, retention, left } = retentionOver(30, [20 * day, 5 * day])
  await settled()
  retention.setDays(10)
  await settled()
  expect(left()).toEqual([5 * day])
  retention.setDays(0)
  await clock.advance(100 * day * 1000)
  expect(left()).toHaveLength(1)
  retention.setDays(10)
  await settled()
  expect([left(), clock.pending]).toEqual([[], 1])
})

test('a new retention that is set during a purge applies after it', async () => {
  const store = new MemoryStore()
  const release = store.hold()
  const { clock, retention, left } = retentionOver(30, [20 * day, 5 * day], store)
  await settled()
  retention.setDays(10)
  release()
  await clock.advance(1_000)
  expect([left(), clock.pending, usagePurges(store)]).toEqual([[5 * day], 1, 2])
})

test('a failure is logged once, and purging continues when the database works again', async () => {
  const { store, clock, log, left, retention } = retentionOver(0, [20 * day])
  store.trouble = 'refuse'
  retention.setDays(10)
  await clock.advance(hour * 3)
  store.trouble = 'none'
  await clock.advance(hour)
  expect(left()).toEqual([])
  expect(log.lines.map(({ message }) => message)).toEqual([
    'cannot purge old usage rows; retrying every hour',
    'purging old usage rows works again',
  ])
})

test('closing leaves no timer, even during a purge', async () => {
  const idle = retentionOver(30, [])
  await settled()
  idle.retention.close()
  expect(idle.clock.pending).toBe(0)

  const store = new MemoryStore()
  const release = store.hold()
  const busy = retentionOver(30, [], store)
  await settled()
  busy.retention.close()
  release()
  await settled()
  expect(busy.clock.pending).toBe(0)
})

test('a purge that the end of the gateway cuts off is no failure', async () => {
  const store = new MemoryStore()
  store.trouble = 'refuse'
  const { log, retention } = retentionOver(1, [], store)
  retention.close()
  await settled()
  expect(usagePurges(store)).toBe(1)
  expect(log.lines).toEqual([])
})
