import { describe, expect, test } from 'vitest'
import { announceChanges } from '../../src/access/announced-store.ts'
import { JournalWriter, recoverUsage, SpendFlusher, UsageLog } from '../../src/accounting/index.ts'
import type { SharedState } from '../../src/core/shared-state.ts'
import { JournalLineReader, type JournalRow, UsageBatchBuilder } from '../../src/store/index.ts'
import { usageRow } from '../store/support/rows.ts'
import { providerKey, testGateway } from '../support/gateway.ts'
import { masterKey, pricedProvider, prompt, used } from '../support/keyed-gateway.ts'
import { ManualClock, settled } from '../support/manual-clock.ts'
import { MemoryJournal } from '../support/memory-journal.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { ScriptedUpstream, whole } from '../support/scripted-upstream.ts'
import { groupId, groupRow, keyId, keyRow, nano, RecordingLog } from './support.ts'

const row = (cost: number, requestId = 'r'): JournalRow =>
  usageRow({ keyId, groupId, cost: nano(cost), requestId })

/** A usage log and its flusher over a database that has a key and its group. */
function life(store = new MemoryStore(), journal = new MemoryJournal()) {
  if (!store.groups.has(groupId)) store.addGroup(groupRow())
  if (!store.keys.has(keyId)) store.addKey(keyRow({ groupId }))
  const clock = new ManualClock()
  const log = new RecordingLog()
  let failed = 0
  const rowJournal = new JournalWriter({ journal, clock, log, failed: (rows) => (failed += rows) })
  const options = { store, rowJournal, clock, log }
  const usageLog = new UsageLog({
    ...options,
    capacity: 4,
    batchMax: 2,
    flushAfter: 2_000,
    dropped: (dropped) => flusher.addDropped(dropped),
  })
  const flusher: SpendFlusher = new SpendFlusher({ ...options, interval: 10_000, usageLog })
  /** The next process, after this one was killed at the end of a turn. */
  const restart = async () => {
    await rowJournal.durable
    const next = life(store, journal)
    store.trouble = 'none'
    await recoverUsage({ journal, store, log: next.log })
    return next
  }
  return {
    store,
    journal,
    clock,
    log,
    rowJournal,
    usageLog,
    flusher,
    restart,
    failed: () => failed,
    costs: () => store.usage.map(({ cost }) => Number(cost)),
    spent: () => [store.keys.get(keyId)?.budgetSpent, store.groups.get(groupId)?.budgetSpent],
  }
}

test('rows that were not saved are saved at the next start, with their spend', async () => {
  const { usageLog, journal, costs, spent, restart } = life()
  usageLog.add(row(5))
  const { log } = await restart()
  expect(costs()).toEqual([5])
  expect(spent()).toEqual([5n, 5n])
  expect(journal.batches.size).toBe(0)
  expect(log.lines).toEqual([
    {
      level: 'warn',
      message: 'saved the usage that a killed process has left in its journal',
      fields: { rows: 1, spend_usd: 0.000000005, torn_rows: 0 },
    },
  ])
})

test('the rows of one turn are written at once, and `kept` resolves then', async () => {
  const { rowJournal, usageLog, journal } = life()
  let writes = 0
  const write = journal.write.bind(journal)
  journal.write = () => {
    writes++
    write()
  }
  expect(rowJournal.durable).toBeUndefined()
  usageLog.add(row(1))
  usageLog.add(row(2, 'r-2'))
  expect(writes).toBe(0)
  await rowJournal.durable
  expect(writes).toBe(1)
  expect(rowJournal.durable).toBeUndefined()
  expect([...journal.batches.values()].map((lines) => lines.length)).toEqual([2])
})

test('the journal forgets a batch when the database has it', async () => {
  const { rowJournal, usageLog, flusher, journal } = life()
  usageLog.add(row(5))
  await rowJournal.durable
  expect(journal.batches.size).toBe(1)
  await flusher.flush()
  expect(journal.batches.size).toBe(0)
})

test('a batch that the database has without having said so is not saved twice', async () => {
  const { usageLog, flusher, store, costs, spent, restart } = life()
  store.trouble = 'lose-answer'
  for (const cost of [1, 2, 3]) usageLog.add(row(cost))
  await flusher.flush()
  await restart()
  expect(costs()).toEqual([1, 2, 3])
  expect(spent()).toEqual([6n, 6n])
})

test('rows that were dropped are saved at the next start', async () => {
  const { usageLog, store, costs, spent, restart } = life()
  store.trouble = 'refuse'
  for (const cost of [1, 2, 3, 4, 5, 6]) usageLog.add(row(cost))
  await settled()
  await restart()
  expect(costs()).toEqual([1, 2, 3, 4, 5, 6])
  expect(spent()).toEqual([21n, 21n])
})

test('the spend of dropped rows that the database has is not saved twice', async () => {
  const { usageLog, flusher, store, clock, spent, restart } = life()
  const release = store.hold()
  for (const cost of [1, 2, 3, 4, 5]) usageLog.add(row(cost))
  release()
  await clock.advance(2_000)
  store.trouble = 'lose-answer'
  await flusher.flush()
  expect(spent()).toEqual([15n, 15n])
  await restart()
  expect(spent()).toEqual([15n, 15n])
})

test('a row whose counts are still to come is saved as it was charged', async () => {
  const { usageLog, costs, restart } = life()
  usageLog.recordPending(row(9))
  await restart()
  expect(costs()).toEqual([9])
})

test('a held row stays until its final row is kept', async () => {
  const { rowJournal, usageLog, journal } = life()
  const add = usageLog.recordPending(row(9))
  rowJournal.write()
  const sizes: number[] = []
  const forget = journal.forget.bind(journal)
  journal.forget = (batch) => {
    sizes.push(journal.batches.size)
    forget(batch)
  }
  add(row(7))
  expect(sizes).toEqual([2])
})

test.each([
  ['before the final row is saved', false],
  ['after it', true],
])('a row with its final counts is saved once, when the process is killed %s', async (_, saves) => {
  const { rowJournal, usageLog, flusher, journal, costs, spent, restart } = life()
  const add = usageLog.recordPending(row(9))
  rowJournal.write()
  const held = [...journal.batches]
  add(row(7))
  if (saves) await flusher.flush()
  // As if the process had been killed between the final row and the end of the held one.
  else rowJournal.write()
  if (!saves) for (const [id, lines] of held) journal.batches.set(id, lines)
  await restart()
  expect(costs()).toEqual([7])
  expect(spent()).toEqual([7n, 7n])
})

test('requests go on while the journal fails: one line, a count, and another try after a second', async () => {
  const { rowJournal, usageLog, flusher, journal, clock, log, costs, failed } = life()
  journal.fails = true
  usageLog.add(row(1))
  usageLog.add(row(2))
  rowJournal.write()
  await settled()
  journal.fails = false
  usageLog.add(row(3))
  rowJournal.write()
  expect(journal.batches.size).toBe(0)
  expect(failed()).toBe(3)
  await clock.advance(1_000)
  usageLog.add(row(4))
  rowJournal.write()
  expect(failed()).toBe(3)
  expect(journal.batches.size).toBe(1)
  await flusher.flush()
  expect(costs()).toEqual([1, 2, 3, 4])
  expect(log.lines.map(({ level, message }) => [level, message])).toEqual([
    ['warn', 'cannot write the journal of unsaved usage: a process that is killed would lose rows'],
    ['warn', 'writing the journal of unsaved usage works again'],
  ])
})

test('a close that cannot save names the rows that the next start saves', async () => {
  const { usageLog, flusher, store, log, costs, restart } = life()
  store.trouble = 'refuse'
  usageLog.add(row(5))
  expect(await flusher.close()).toEqual({ rows: 0, spend: 0n })
  expect(log.lines.at(-1)).toEqual({
    level: 'warn',
    message: 'usage is not saved yet: the next start saves it',
    fields: { rows: 1, spend_usd: 0.000000005 },
  })
  await restart()
  expect(costs()).toEqual([5])
})

test('a charge for a request that was taken for lost is taken back when its row is found', async () => {
  const { store } = life()
  const charged = async (id: string, charge: JournalRow) => {
    const batch = new UsageBatchBuilder(id, 'other@2')
    batch.add({ ...charge, status: 500, errorCode: 'LM-6002' })
    await store.addUsage(batch)
  }
  await charged('b-1', row(9, 'r-1'))
  await charged('b-2', row(9, 'r-2'))
  const journal = new MemoryJournal()
  const found = new UsageBatchBuilder('b-3', 'killed@1')
  found.add(row(5, 'r-1'))
  journal.append('b-3', found.fullLine())
  journal.write()
  const recover = () => recoverUsage({ journal, store, log: new RecordingLog() })
  const lines = [...journal.batches]
  expect(await recover()).toEqual(['killed@1'])
  // As if the process had ended before the journal forgot its batch.
  for (const [id, batch] of lines) journal.batches.set(id, batch)
  await recover()
  const costs = store.usage.map(({ requestId, cost }) => [requestId, Number(cost)])
  expect(costs).toEqual([
    ['r-1', 9],
    ['r-2', 9],
    ['r-1', 5],
    ['r-1', -9],
  ])
  expect(store.keys.get(keyId)?.spentTotal).toBe(14n)
  const [share] = await store.readShares('killed@1')
  expect(share?.total).toBe(-4n)
})

test('a store that announces its changes to other processes has the journal', () => {
  const store = new MemoryStore()
  store.journal = new MemoryJournal()
  // It is not called.
  const shared = {} as SharedState
  expect(announceChanges(store, shared).journal).toBe(store.journal)
})

test('a start that cannot save the rows fails, and the journal keeps them', async () => {
  const { rowJournal, usageLog, store, journal } = life()
  usageLog.add(row(5))
  rowJournal.write()
  store.trouble = 'refuse'
  const recovered = recoverUsage({ journal, store, log: new RecordingLog() })
  await expect(recovered).rejects.toThrow('the database is out')
  expect(journal.batches.size).toBe(1)
})

test('a percentage that only the journal knows fires at the next start, and no earlier one does', async () => {
  const store = new MemoryStore()
  store.journal = new MemoryJournal()
  const config = `${pricedProvider}
[webhooks]
url = "https://hooks.test"
events = ["budget.threshold"]
[auth]
enabled = true`
  const fired: unknown[] = []
  const open = async () => {
    const env = { P_KEY: providerKey, GATEWAY_MASTER_KEY: masterKey }
    const upstream = new ScriptedUpstream().always(async (request) => {
      if (!request.url.startsWith('https://hooks')) return used(10, 1)(request)
      const { threshold, name } = JSON.parse(new TextDecoder().decode(request.body))
      fired.push(`${threshold} of ${name}`)
      return whole('')(request)
    })
    return testGateway(config, { env, openStore: async () => store, upstream: upstream.port })
  }
  const killed = await open()
  const post = async (path: string, secret: string, body: object) => {
    const headers = { authorization: `Bearer ${secret}` }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    return (await (await killed.get(path, init)).json()) as Record<string, string>
  }
  // Each request costs 12,000 nano-dollars.
  const group = await post('/admin/groups', masterKey, { name: 'a group', budget_max: 0.000036 })
  const fields = { name: 'a key', budget_max: 0.000048, group_id: group['id'] }
  const key = await post('/admin/keys', masterKey, fields)
  const ask = () => post('/v1/chat/completions', String(key['key']), prompt(10, { max_tokens: 1 }))
  for (let at = 0; at < 2; at++) await ask()
  await killed.clock.advance(20_000)
  await settled()
  expect(fired.splice(0)).toEqual(['50 of a key', '50 of a group'])
  // This one is in the journal alone, and so are its events.
  await ask()
  fired.length = 0
  const { gateway } = await open()
  await settled()
  expect(fired).toEqual(['80 of a group', '95 of a group'])
  await gateway.close()
})

describe('lines', () => {
  const term = { period: 'day', since: 86_400, resetsAt: 172_800 } as const
  const first = { ...row(17), keyTerm: term, metadata: { team: 'a', n: 1 } }
  const fullLine = (only: JournalRow) => {
    const batch = new UsageBatchBuilder('b')
    batch.add(only)
    return batch.fullLine()
  }

  test('rows have every field, and the terms that they are charged to', () => {
    const reader = new JournalLineReader()
    const batch = new UsageBatchBuilder('b')
    batch.add(first)
    expect(reader.read(batch.fullLine())).toEqual(first)
    const next = { ...row(2_000_000_005, 'r-2'), ttftMs: 3, groupTerm: term, replaces: 'b-1' }
    batch.add(next)
    expect(reader.read(batch.nextLine())).toEqual(next)
    expect(new JournalLineReader().read(batch.fullLine())).toEqual(next)
    batch.add(first)
    expect(reader.read(batch.nextLine())).toEqual(first)
  })

  test('a row may take back a cost', () => {
    const refund = row(-1_500_000_000)
    expect(new JournalLineReader().read(fullLine(refund))).toEqual(refund)
  })

  test('rows name the process that has charged them', () => {
    const reader = new JournalLineReader()
    const batch = new UsageBatchBuilder('b', 'p-1')
    batch.add(first)
    expect(reader.read(batch.fullLine())?.process).toBe('p-1')
    batch.add(row(5, 'r-2'))
    expect(reader.read(batch.nextLine())?.process).toBe('p-1')
  })

  test('a line of another version is a row: what it lacks is blank, and what it has in addition is ignored', () => {
    const reader = new JournalLineReader()
    const { searchUnits: _, ...known } = JSON.parse(fullLine(row(17)))
    expect(reader.read(JSON.stringify({ color: 'red', ...known }))).toEqual(row(17))
    expect(reader.read('[0,"blue",2,"r-2"]')).toEqual(row(17, 'r-2'))
  })

  test.each(['', '{}', '{"keyId":"a"', '{"keyId":"a","costUsd":1,"costNano":-1}', '[]'])(
    'the first line %j is not a row',
    (line) => {
      expect(new JournalLineReader().read(line)).toBeUndefined()
    },
  )

  test.each(['[99,1]', '["a",1]', '[20,"-1"]', '[', 'null'])(
    'the next line %j is not a row',
    (line) => {
      const reader = new JournalLineReader()
      reader.read(fullLine(first))
      expect(reader.read(line)).toBeUndefined()
    },
  )
})
