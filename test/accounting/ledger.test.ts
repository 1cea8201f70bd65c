import { expect, test } from 'vitest'
import { Ledger } from '../../src/accounting/ledger.ts'
import type { NanoUsd } from '../../src/core/ids.ts'
import type { SpendAddition } from '../../src/store/index.ts'
import { ManualClock, settled } from '../support/manual-clock.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { groupId, groupRow, keyId, keyRow, NotedLog, nano } from './support.ts'

const interval = 10_000

function ledgerOver(store = new MemoryStore()) {
  store.keys.set(keyId, keyRow())
  store.groups.set(groupId, groupRow())
  const clock = new ManualClock()
  const log = new NotedLog()
  const unsaved: SpendAddition[] = []
  const ledger = new Ledger({
    store,
    clock,
    log,
    interval,
    takeUnsaved: () => unsaved.splice(0),
  })
  const spend = (amount: number) => unsaved.push({ scope: 'key', id: keyId, amount: nano(amount) })
  const saved = () => store.keys.get(keyId)?.budgetSpent
  return { store, clock, log, ledger, unsaved, spend, saved }
}

test('what was spent is saved at every interval, for keys and for groups', async () => {
  const { clock, unsaved, spend, saved, store } = ledgerOver()
  spend(5)
  unsaved.push({ scope: 'group', id: groupId, amount: nano(6) })
  await clock.advance(interval - 1)
  expect(saved()).toBe(0n)
  await clock.advance(1)
  expect(saved()).toBe(5n)
  expect(store.groups.get(groupId)?.budgetSpent).toBe(6n)
  spend(7)
  await clock.advance(interval)
  expect(saved()).toBe(12n)
})

test('a flush with nothing to save leaves the database alone', async () => {
  const { clock, store } = ledgerOver()
  await clock.advance(interval * 3)
  expect(store.calls).toEqual([])
})

test('a failed flush is sent again as it was, and what was spent meanwhile goes into the next', async () => {
  const { clock, store, spend, saved } = ledgerOver()
  store.trouble = 'lose-answer'
  spend(5)
  await clock.advance(interval)
  spend(7)
  await clock.advance(interval)
  expect(saved()).toBe(5n)
  store.trouble = 'none'
  await clock.advance(interval)
  expect(saved()).toBe(12n)
  expect([...store.flushes.values()].map(({ additions }) => additions[0]?.amount)).toEqual([5n, 7n])
})

test('while the database is out nothing more is taken', async () => {
  const { clock, store, spend, unsaved, saved } = ledgerOver()
  store.trouble = 'refuse'
  spend(5)
  await clock.advance(interval)
  spend(7)
  await clock.advance(interval * 5)
  expect(unsaved).toHaveLength(1)
  store.trouble = 'none'
  await clock.advance(interval)
  expect(saved()).toBe(12n)
})

test('one line tells that saving fails, and one that it works again', async () => {
  const { clock, store, spend, log } = ledgerOver()
  spend(4)
  await clock.advance(interval)
  store.trouble = 'refuse'
  spend(5)
  await clock.advance(interval * 4)
  store.trouble = 'none'
  await clock.advance(interval)
  spend(6)
  await clock.advance(interval)
  expect(log.lines.map(({ level, message }) => [level, message])).toEqual([
    ['warn', 'spend cannot be saved, it is kept in memory and tried again'],
    ['warn', 'spend is saved again'],
  ])
  expect(log.lines[0]?.fields).toMatchObject({ error: 'StoreFault' })
})

test('flushes follow one another, and those who wait share one', async () => {
  const { store, ledger, spend, saved } = ledgerOver()
  const release = store.hold()
  spend(1)
  const first = ledger.flush()
  await settled()
  spend(2)
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

test('what was spent before a flush is saved when it resolves', async () => {
  const { ledger, spend, saved } = ledgerOver()
  spend(4)
  await ledger.flush()
  expect(saved()).toBe(4n)
})

test('many accounts are saved in several transactions, also after one of them failed', async () => {
  const { clock, store, ledger, unsaved } = ledgerOver()
  const ids = Array.from({ length: 2_500 }, (_, at) => at.toString(16).padStart(32, '0'))
  for (const id of ids) unsaved.push({ scope: 'key', id, amount: 1n as NanoUsd })
  store.trouble = 'lose-answer'
  await ledger.flush()
  store.trouble = 'none'
  await clock.advance(interval)
  const sizes = [...store.flushes.values()].map(({ additions }) => additions.length)
  expect(sizes).toEqual([1_000, 1_000, 500])
})

test('the interval can be changed at any time', async () => {
  const { clock, ledger, spend, saved } = ledgerOver()
  await clock.advance(interval - 1)
  ledger.setInterval(1_000)
  spend(5)
  await clock.advance(999)
  expect(saved()).toBe(0n)
  await clock.advance(1)
  expect(saved()).toBe(5n)
  spend(6)
  await clock.advance(1_000)
  expect(saved()).toBe(11n)
  expect(clock.pending).toBe(1)
})

test('the same interval once more does not put the next flush off', async () => {
  const { clock, ledger, spend, saved } = ledgerOver()
  spend(5)
  await clock.advance(interval - 1)
  ledger.setInterval(interval)
  await clock.advance(1)
  expect(saved()).toBe(5n)
})

test('the end is one more flush, and no timer stays', async () => {
  const { clock, ledger, spend, saved } = ledgerOver()
  spend(5)
  await ledger.close()
  expect(saved()).toBe(5n)
  expect(clock.pending).toBe(0)
})

test('an end during a flush leaves no timer either', async () => {
  const { clock, ledger, spend, store, saved } = ledgerOver()
  const release = store.hold()
  spend(5)
  await clock.advance(interval)
  spend(6)
  const closed = ledger.close()
  release()
  await closed
  await settled()
  expect(saved()).toBe(11n)
  expect(clock.pending).toBe(0)
})
