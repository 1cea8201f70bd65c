import { describe, expect, test } from 'vitest'
import { noRowJournal } from '../../src/accounting/journal-writer.ts'
import { SpendFlusher } from '../../src/accounting/spend-flusher.ts'
import { UsageLog } from '../../src/accounting/usage-log.ts'
import { usageRow } from '../store/support/rows.ts'
import { ManualClock, settled } from '../support/manual-clock.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { groupId, groupRow, keyId, keyRow, nano, RecordingLog } from './support.ts'

const interval = 10_000

function ledgerOver(store = new MemoryStore()) {
  store.addKey(keyRow())
  store.addGroup(groupRow())
  const clock = new ManualClock()
  const log = new RecordingLog()
  const options = { store, rowJournal: noRowJournal, clock, log }
  const usageLog = new UsageLog({
    ...options,
    capacity: 10,
    batchMax: 10,
    flushAfter: 60_000,
    dropped: (row) => ledger.addDropped(row),
  })
  const ledger: SpendFlusher = new SpendFlusher({ ...options, interval, usageLog })
  /** Ends a request with this cost whose row is dropped. */
  const owe = (cost: number, id: string = keyId) =>
    ledger.addDropped(usageRow({ keyId: id, groupId: null, cost: nano(cost) }))
  const saved = () => store.keys.get(keyId)?.budgetSpent
  return { store, clock, log, ledger, usageLog, owe, saved }
}

describe('rows', () => {
  const row = usageRow({ keyId, groupId, cost: nano(5) })

  test('rows are written with their cost for keys and for groups', async () => {
    const { store, ledger, usageLog, saved } = ledgerOver()
    usageLog.add(row)
    usageLog.add({ ...row, groupId: null })
    expect(saved()).toBe(0n)
    await ledger.flush()
    expect(store.calls).toEqual(['addUsage'])
    expect(saved()).toBe(10n)
    expect(store.groups.get(groupId)?.budgetSpent).toBe(5n)
  })

  test('rows that wait for a full batch are written at the end of the flush interval', async () => {
    const { clock, usageLog, saved } = ledgerOver()
    usageLog.add(row)
    await clock.advance(interval - 1)
    expect(saved()).toBe(0n)
    await clock.advance(1)
    expect(saved()).toBe(5n)
  })

  test('dropped rows are charged without being written', async () => {
    const { clock, store, usageLog, saved } = ledgerOver()
    for (let request = 0; request < 12; request++) usageLog.add(row)
    await clock.advance(interval)
    expect(store.usage).toHaveLength(10)
    expect(saved()).toBe(60n)
    expect(store.groups.get(groupId)?.budgetSpent).toBe(60n)
  })
})

test('the cost of dropped rows is saved at every interval, for keys and for groups', async () => {
  const { clock, ledger, owe, saved, store } = ledgerOver()
  ledger.addDropped(usageRow({ keyId, groupId, cost: nano(5) }))
  await clock.advance(interval - 1)
  expect(saved()).toBe(0n)
  await clock.advance(1)
  expect(saved()).toBe(5n)
  expect(store.groups.get(groupId)?.budgetSpent).toBe(5n)
  owe(7)
  await clock.advance(interval)
  expect(saved()).toBe(12n)
})

test('a flush with nothing to save does not call the database', async () => {
  const { clock, store } = ledgerOver()
  await clock.advance(interval * 3)
  expect(store.calls).toEqual([])
})

test('a failed flush is sent again unchanged, and later spend goes into the next one', async () => {
  const { clock, store, owe, saved } = ledgerOver()
  store.trouble = 'lose-answer'
  owe(5)
  await clock.advance(interval)
  owe(7)
  await clock.advance(interval)
  expect(saved()).toBe(5n)
  store.trouble = 'none'
  await clock.advance(interval)
  expect(saved()).toBe(12n)
  expect([...store.flushes.values()].map(({ additions }) => additions[0]?.amount)).toEqual([5n, 7n])
})

test('during an outage one flush is repeated and no further one is made', async () => {
  const { clock, store, owe, saved } = ledgerOver()
  store.trouble = 'refuse'
  owe(5)
  await clock.advance(interval)
  for (let round = 0; round < 5; round++) {
    owe(7)
    await clock.advance(interval)
  }
  store.trouble = 'none'
  await clock.advance(interval)
  expect(saved()).toBe(40n)
  expect([...store.flushes.values()].map(({ additions }) => additions[0]?.amount)).toEqual([
    5n,
    35n,
  ])
})

test('an outage logs one line at its begin and one at its end', async () => {
  const { clock, store, owe, log } = ledgerOver()
  owe(4)
  await clock.advance(interval)
  store.trouble = 'refuse'
  owe(5)
  await clock.advance(interval * 4)
  store.trouble = 'none'
  await clock.advance(interval)
  owe(6)
  await clock.advance(interval)
  expect(log.lines.map(({ level, message }) => [level, message])).toEqual([
    ['warn', 'cannot save the spend of dropped usage rows; keeping it in memory and retrying'],
    ['warn', 'saving the spend of dropped usage rows works again'],
  ])
  expect(log.lines[0]?.fields).toMatchObject({ reason: 'the database is out' })
})

test('flushes run one after the other, and waiting callers share one', async () => {
  const { store, ledger, owe, saved } = ledgerOver()
  const release = store.hold()
  owe(1)
  const first = ledger.flush()
  await settled()
  owe(2)
  const second = ledger.flush()
  expect(ledger.flush()).toBe(second)
  await settled()
  expect(store.calls).toHaveLength(1)
  release()
  await first
  expect(saved()).toBe(1n)
  await second
  expect(saved()).toBe(3n)
})

test('a flush resolves when all earlier spend is saved', async () => {
  const { ledger, owe, saved } = ledgerOver()
  owe(4)
  await ledger.flush()
  expect(saved()).toBe(4n)
})

test('the spend of many accounts is saved in several transactions, even after one of them failed', async () => {
  const { clock, store, ledger, owe } = ledgerOver()
  const ids = Array.from({ length: 2_500 }, (_, at) => at.toString(16).padStart(32, '0'))
  for (const id of ids) owe(1, id)
  store.trouble = 'lose-answer'
  await ledger.flush()
  store.trouble = 'none'
  await clock.advance(interval)
  const sizes = [...store.flushes.values()].map(({ additions }) => additions.length)
  expect(sizes).toEqual([1_000, 1_000, 500])
})

test('the interval can be changed at any time', async () => {
  const { clock, ledger, owe, saved } = ledgerOver()
  await clock.advance(interval - 1)
  ledger.setInterval(1_000)
  owe(5)
  await clock.advance(999)
  expect(saved()).toBe(0n)
  await clock.advance(1)
  expect(saved()).toBe(5n)
  owe(6)
  await clock.advance(1_000)
  expect(saved()).toBe(11n)
  expect(clock.pending).toBe(1)
})

test('setting the same interval again does not postpone the next flush', async () => {
  const { clock, ledger, owe, saved } = ledgerOver()
  owe(5)
  await clock.advance(interval - 1)
  ledger.setInterval(interval)
  await clock.advance(1)
  expect(saved()).toBe(5n)
})

test('closing flushes once more and leaves no timer', async () => {
  const { clock, ledger, owe, saved } = ledgerOver()
  owe(5)
  expect(await ledger.close()).toEqual({ rows: 0, spend: 0n })
  expect(saved()).toBe(5n)
  expect(clock.pending).toBe(0)
})

test('closing returns the rows and the spend that are neither saved nor in the journal', async () => {
  const { store, clock, ledger, usageLog, owe } = ledgerOver()
  store.trouble = 'refuse'
  owe(5)
  await clock.advance(interval)
  owe(7)
  for (const cost of [20, 30]) usageLog.add(usageRow({ keyId, groupId, cost: nano(cost) }))
  expect(await ledger.close()).toEqual({ rows: 2, spend: 62n })
  expect(clock.pending).toBe(0)
})

test('closing during a flush leaves no timer either', async () => {
  const { clock, ledger, owe, store, saved } = ledgerOver()
  const release = store.hold()
  owe(5)
  await clock.advance(interval)
  owe(6)
  const closed = ledger.close()
  release()
  await closed
  await settled()
  expect(saved()).toBe(11n)
  expect(clock.pending).toBe(0)
})
