import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BudgetTerm } from '../../src/core/budget-period.ts'
import type { NanoUsd } from '../../src/core/ids.ts'
import {
  type LostCharge,
  type Store,
  type SubjectSpend,
  UsageBatchBuilder,
} from '../../src/store/index.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { PlainSpend } from './support/plain-spend.ts'
import { groupId, keyId, newGroup, newKey, usageRow } from './support/rows.ts'

const subjects = [keyId('a'), keyId('b'), groupId('g')]
const termAt = (day: number): BudgetTerm => ({
  period: 'day',
  since: day * 86_400,
  resetsAt: (day + 1) * 86_400,
})
const anyAmount = fc
  .oneof(fc.bigInt({ min: -3_000_000_000n, max: 3_000_000_000n }), fc.constant(12n * 10n ** 18n))
  .map((cost) => cost as NanoUsd)
const anyTerm = fc.integer({ min: 1, max: 3 }).map(termAt)
const anyProcess = fc.constantFrom('p1', 'p2', undefined)

const anyCharge = fc.record({
  process: anyProcess,
  isRow: fc.boolean(),
  keyId: fc.constantFrom(...subjects.slice(0, 2)).map(String),
  groupId: fc.constantFrom('g', null),
  cost: anyAmount,
  term: anyTerm,
})

async function openStore(): Promise<MemoryStore> {
  const store = new MemoryStore()
  await store.createGroup(newGroup('g'))
  for (const id of ['a', 'b']) await store.createKey(newKey(id))
  return store
}

function openPlain(): PlainSpend {
  const plain = new PlainSpend()
  plain.addGroup(newGroup('g'))
  for (const id of ['a', 'b']) plain.addKey(newKey(id))
  return plain
}

test('the saved spend is that from before plus the parts of the processes, as the plain rules say', async () => {
  let batches = 0
  await fc.assert(
    fc.asyncProperty(fc.array(anyCharge, { maxLength: 8 }), async (charges) => {
      const [store, plain] = [await openStore(), openPlain()]
      for (const { process, isRow, term, ...row } of charges) {
        const id = String(batches++)
        const charge = { amount: row.cost, term, termAmount: row.cost }
        const onKey = { scope: 'key' as const, id: row.keyId, ...charge }
        plain.charge(onKey, process)
        if (isRow) {
          const batch = new UsageBatchBuilder(id, process)
          batch.add({ ...usageRow(row), keyTerm: term, groupTerm: term })
          await store.addUsage(batch)
          if (row.groupId !== null) {
            plain.charge({ scope: 'group', id: row.groupId, ...charge }, process)
          }
        } else {
          await store.addSpend({ id, process, additions: [onKey] })
        }
      }
      const saved = await store.readSpend(subjects)
      expect(byProcess(saved)).toEqual(byProcess(plain.readSpend(subjects)))
      const isShared = charges.every(({ process }) => process !== undefined)
      for (const { spentTotal, budgetSpent, term, shares } of saved) {
        if (!isShared) continue
        expect(shares.reduce((sum, { total }) => sum + total, 0n)).toBe(spentTotal)
        const inTerm = shares.filter(({ since }) => since === term.since)
        expect(inTerm.reduce((sum, { amount }) => sum + amount, 0n)).toBe(budgetSpent)
      }
    }),
    { numRuns: 40 },
  )
})

/** In an order of their own: the database has none. */
function byProcess(spends: readonly SubjectSpend[]): readonly object[] {
  const sorted = spends.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  return sorted.map(({ shares, ...one }) => ({
    ...one,
    shares: shares.toSorted((a, b) => (a.process < b.process ? -1 : 1)),
  }))
}

test('a process that is forgotten leaves its spend, and no part of it', async () => {
  const store = await openStore()
  for (const process of ['p1', 'p2']) {
    const batch = new UsageBatchBuilder(`batch of ${process}`, process)
    batch.add({
      ...usageRow({ keyId: 'a', groupId: 'g', cost: 5n as NanoUsd }),
      keyTerm: termAt(1),
    })
    await store.addUsage(batch)
  }
  expect((await store.listProcesses()).toSorted()).toEqual(['p1', 'p2'])
  const shares = (await store.readShares('p1')).toSorted((a, b) => (a.subject < b.subject ? -1 : 1))
  expect(shares).toEqual([
    { subject: 'a', since: 86_400, amount: 5n, total: 5n },
    { subject: 'g', since: 0, amount: 5n, total: 5n },
  ])
  await store.forgetProcess('p1')
  expect(await store.listProcesses()).toEqual(['p2'])
  expect(await store.readShares('p1')).toEqual([])
  const [key] = await store.readSpend([keyId('a')])
  expect([key?.spentTotal, key?.shares.length]).toEqual([10n, 1])
})

const lost = 'LM-6002'

/** Adds rows of requests of one key, each `[request, cost, error code]`. */
function addRows(
  store: Store,
  id: string,
  rows: readonly (readonly [string, number, string?])[],
): Promise<readonly LostCharge[]> {
  const batch = new UsageBatchBuilder(id, 'p1')
  for (const [requestId, cost, errorCode = null] of rows) {
    batch.add(usageRow({ requestId, keyId: 'a', cost: BigInt(cost) as NanoUsd, errorCode }))
  }
  return store.addUsage(batch)
}

test('requests are found by their key and their id, and whether they were only charged as lost', async () => {
  const store = await openStore()
  const find = (since: number, until: number) => {
    const ids = ['r-1', 'r-2', 'r-3']
    const requests = ids.map((requestId) => ({ requestId, keyId: 'a' }))
    return store.findUsage({
      requests: [...requests, { requestId: 'r-1', keyId: 'b' }],
      since,
      until,
    })
  }
  expect(await find(0, 2_000)).toEqual({ last: 0, requests: [] })
  await addRows(store, 'rows', [
    ['r-1', 5],
    ['r-1', 3, lost],
    ['r-2', 7, lost],
  ])
  const { last, requests } = await find(1_000, 1_000)
  expect(last).toBe(3)
  expect(requests.toSorted((a, b) => (a.requestId < b.requestId ? -1 : 1))).toEqual([
    { requestId: 'r-1', keyId: 'a', isLost: false },
    { requestId: 'r-2', keyId: 'a', isLost: true },
  ])
  for (const none of [await find(1_001, 2_000), await find(0, 999)]) {
    expect(none).toEqual({ last: 3, requests: [] })
  }
})

test('saving a row shows what was charged for its request as lost, until that is taken back', async () => {
  const store = await openStore()
  await addRows(store, 'lost', [
    ['r-1', 3_000_000_002, lost],
    ['r-2', 4, lost],
    ['r-2', -4, lost],
    ['r-3', 6],
  ])
  const own = [['r-1', 5] as const, ['r-2', 5] as const, ['r-3', 5] as const, ['r-4', 5] as const]
  const charge = { requestId: 'r-1', keyId: 'a', cost: 3_000_000_002n, row: 1 }
  expect(await addRows(store, 'own', own)).toEqual([charge])
  expect(await addRows(store, 'own', own)).toEqual([charge])
  await addRows(store, 'refund', [['r-1', -3_000_000_002, lost]])
  expect(await addRows(store, 'own', own)).toEqual([])
  const alone = new UsageBatchBuilder('alone')
  alone.add(usageRow({ requestId: 'r-5', keyId: 'a' }))
  await addRows(store, 'another', [['r-5', 1, lost]])
  expect(await store.addUsage(alone)).toEqual([])
})

test('the row of a lost request is saved once, unless the request has got a row since the lookup', async () => {
  const store = await openStore()
  const charge = (id: string, requestId: string, last: number) => {
    const batch = new UsageBatchBuilder(id, 'p2')
    const cost = 9n as NanoUsd
    batch.add(usageRow({ requestId, keyId: 'a', cost, errorCode: lost }))
    return store.addLostUsage(batch, { requestId, keyId: 'a', last })
  }
  await addRows(store, 'rows', [
    ['r-1', 5],
    ['r-2', 5],
  ])
  expect(await charge('c-1', 'r-2', 1)).toBe(false)
  // A client has sent the id before.
  expect(await charge('c-2', 'r-2', 2)).toBe(true)
  expect(await charge('c-2', 'r-2', 2)).toBe(true)
  expect(await charge('c-3', 'r-2', 2)).toBe(false)
  expect(await charge('c-4', 'r-3', 2)).toBe(true)
  const [spend] = await store.readSpend([keyId('a')])
  expect(spend?.spentTotal).toBe(28n)
  const shares = spend?.shares.map(({ process, total }) => [process, total])
  expect(new Map(shares as [string, bigint][])).toEqual(
    new Map([
      ['p1', 10n],
      ['p2', 18n],
    ]),
  )
})
