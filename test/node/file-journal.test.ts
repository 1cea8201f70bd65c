import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openNodeStore } from '../../adapters/node/ports/store.ts'
import { FileJournal } from '../../adapters/node/store/file-journal.ts'
import { nameProcess, recoverUsage } from '../../src/accounting/index.ts'
import {
  type Journal,
  type Store,
  type StoreClaim,
  StoreFault,
  type StoreSettings,
  UsageBatchBuilder,
} from '../../src/store/index.ts'
import { RecordingLog } from '../accounting/support.ts'
import { newKey, usageRow } from '../store/support/rows.ts'
import { type LibsqlServer, libsqlServer } from './support/libsql-server.ts'
import { folder, threadEntry, valueOf } from './support/store.ts'

/** Adds rows to a batch and to the journal. */
function append(journal: Journal, id: string, requests: readonly string[]): UsageBatchBuilder {
  const batch = new UsageBatchBuilder(id)
  for (const requestId of requests) {
    batch.add(usageRow({ requestId, keyId: 'k' }))
    journal.append(id, batch.length === 1 ? batch.fullLine() : batch.nextLine())
  }
  journal.write()
  return batch
}

/** A journal in the only slot, over files that an ended process has left. */
function journalAt(
  prefix: string,
  paths: () => string[] = () => [],
  report?: StoreSettings['report'],
): FileJournal {
  const findLeft = async () => ({
    files: paths().map((path) => ({ path, place: '1' })),
    outdated: [],
    free: ['1'],
  })
  return new FileJournal({ place: '1', prefix, findLeft, report })
}

/** The journal of an ended process in a new folder. */
function left(write: (journal: FileJournal, prefix: string) => void) {
  const home = folder()
  const prefix = join(home, 'gateway.db-unsaved-1-')
  const journal = journalAt(prefix)
  write(journal, prefix)
  journal.close()
  const paths = () => readdirSync(home).map((name) => join(home, name))
  const reports: unknown[] = []
  const next = journalAt(prefix, paths, (...report) => reports.push(report))
  return { next, paths, reports }
}

test('the rows of batches that were not forgotten are found, in their order', async () => {
  const { next, paths } = left((journal) => {
    append(journal, 'b1', ['r1', 'r2'])
    append(journal, 'b2', ['r3'])
    append(journal, 'b3', ['r4'])
    journal.forget('b1')
  })
  const found = await next.recover([])
  expect(found.batches.map(({ id, rows }) => [id, rows.map((row) => row.requestId)])).toEqual([
    // The same file has it; the database ignores it.
    ['b1', ['r1', 'r2']],
    ['b2', ['r3']],
    ['b3', ['r4']],
  ])
  expect(found.torn).toBe(0)
  for (const { id } of found.batches) next.forget(id)
  expect(paths()).toEqual([])
})

test('only this user can read the file, which goes when all its batches are forgotten', () => {
  const { paths } = left((journal, prefix) => {
    append(journal, 'b1', ['r1'])
    const [path = ''] = readdirSync(join(prefix, '..')).map((name) => join(prefix, '..', name))
    expect(statSync(path).mode & 0o777).toBe(0o600)
    append(journal, 'b2', ['r2'])
    journal.forget('b1')
    expect(statSync(path).size).toBeGreaterThan(0)
    journal.forget('b2')
  })
  expect(paths()).toEqual([])
})

test('files are bounded, and none goes before an older one', async () => {
  const requests = Array.from({ length: 1_000 }, (_, at) => `${at}`.padStart(36, '0'))
  const { next, paths } = left((journal) => {
    append(journal, 'b1', ['r'])
    for (let at = 0; at < 32; at++) append(journal, `b2-${at}`, requests)
    append(journal, 'b3', ['r'])
    journal.forget('b3')
  })
  const sizes = paths().map((path) => statSync(path).size)
  expect(sizes.length).toBeGreaterThan(1)
  expect(Math.max(...sizes)).toBeLessThan(1_100_000)
  const { batches } = await next.recover([])
  expect(batches.map(({ id, rows }) => [id, rows.length])).toEqual([
    ['b1', 1],
    ...Array.from({ length: 32 }, (_, at) => [`b2-${at}`, 1_000]),
    ['b3', 1],
  ])
  for (const { id } of batches) if (id !== 'b1') next.forget(id)
  expect(paths()).toHaveLength(sizes.length)
  next.forget('b1')
  expect(paths()).toEqual([])
})

test('a last line that was cut off is counted, and the rows before it are found', async () => {
  const { next, paths, reports } = left((journal) => append(journal, 'b1', ['r1', 'r2']))
  const [path = ''] = paths()
  writeFileSync(path, readFileSync(path).subarray(0, -5))
  const { batches, torn } = await next.recover([])
  expect(batches.map(({ rows }) => rows.map((row) => row.requestId))).toEqual([['r1']])
  expect(torn).toBe(1)
  expect(reports).toEqual([])
})

test('a damaged file is kept aside, with an error, and its sound rows are found', async () => {
  const { next, paths, reports } = left((journal) => append(journal, 'b1', ['r1']))
  const [path = ''] = paths()
  appendFileSync(path, `\0\0\0\nb1 [0,1]\nb2 [0,1]\n`)
  const { batches } = await next.recover([])
  expect(batches.map(({ id, rows }) => [id, rows.length])).toEqual([['b1', 2]])
  expect(reports).toEqual([['a journal of unsaved usage is damaged', { path, unreadable: 2 }]])
  next.forget('b1')
  expect(paths()).toEqual([`${path}-damaged`])
})

test('a file that cannot be read remains, and the others are found', async () => {
  const { next, paths, reports } = left((journal, prefix) => {
    append(journal, 'b1', ['r1'])
    mkdirSync(`${prefix}1`)
  })
  const { batches } = await next.recover([])
  expect(batches).toHaveLength(1)
  next.forget('b1')
  const [path] = paths()
  expect(reports).toEqual([['cannot read a journal of unsaved usage', { path, code: 'EISDIR' }]])
})

test('a row that cannot be written is a fault without its content, and the next one is tried', async () => {
  const home = folder()
  const journal = journalAt(join(home, 'gone', 'gateway.db-unsaved-1-'))
  expect(() => append(journal, 'b1', ['r1'])).toThrow(
    new StoreFault('cannot write a file of the journal (ENOENT)', 'ENOENT'),
  )
  mkdirSync(join(home, 'gone'))
  append(journal, 'b1', ['r1'])
  expect(readdirSync(join(home, 'gone'))).toHaveLength(1)
  journal.close()
})

test('a journal that has reached its maximum size takes no more rows until batches are forgotten', () => {
  const prefix = join(folder(), 'gateway.db-unsaved-1-')
  const journal = journalAt(prefix)
  const line = 'x'.repeat(1024 * 1024)
  const write = (batch: number) => {
    journal.append(`b${batch}`, line)
    journal.write()
  }
  for (let batch = 0; batch < 64; batch++) write(batch)
  expect(() => write(64)).toThrow('the journal has its maximum size')
  journal.forget('b0')
  write(65)
  journal.close()
})

async function open(
  path: string,
  claim?: StoreClaim,
  options: Pick<StoreSettings, 'journalFolder' | 'report'> = {},
): Promise<Store> {
  return openNodeStore({ path, token: undefined, claim, ...options }, { entry: threadEntry })
}

test('the next process saves what an ended one has left, also beside one that runs', async () => {
  const path = join(folder(), 'gateway.db')
  const first = await open(path, { onConflict: 'reject' })
  await first.createKey(newKey('k'))
  const second = await open(path, { onConflict: 'report' })
  append(first.journal as Journal, 'b1', ['r1'])
  append(second.journal as Journal, 'b2', ['r2'])
  // Its lock goes with it, as when it is killed.
  await second.close()
  const third = await open(path, { onConflict: 'report' })
  await recoverUsage({ journal: third.journal, store: third, log: new RecordingLog() })
  expect(await valueOf(path, 'select group_concat(request_id) from usage_log')).toBe('r2')
  await first.close()
  const fourth = await open(path, { onConflict: 'reject' })
  append(third.journal as Journal, 'b3', ['r3'])
  await recoverUsage({ journal: fourth.journal, store: fourth, log: new RecordingLog() })
  expect(await valueOf(path, 'select group_concat(request_id) from usage_log')).toBe('r2,r1')
  expect(await valueOf(path, 'select budget_spent_nano from virtual_keys')).toBe(2_000_000)
  await third.close()
  await fourth.close()
})

test('a command has no journal', async () => {
  const store = await open(join(folder(), 'gateway.db'), undefined, { journalFolder: folder() })
  expect(store.journal).toBeUndefined()
  await store.close()
})

describe('on a libSQL server', () => {
  const state = { prefix: 'gateway', address: 'redis:6379', database: 0 }
  const shared: StoreClaim = { sharing: state, onConflict: 'reject' }
  const idsIn = ({ execute }: LibsqlServer) =>
    execute('select request_id from usage_log order by id')

  test('the files are in a folder of the gateway, and each database has its own', async () => {
    const server = await libsqlServer()
    const place = join(folder(), 'new')
    const first = await open(server.url, shared, { journalFolder: place })
    await first.createKey(newKey('k'))
    append(first.journal as Journal, 'b1', ['r1'])
    const other = await open((await libsqlServer()).url, shared, { journalFolder: place })
    append(other.journal as Journal, 'b2', ['r2'])
    // Their locks go with them, as when they are killed.
    await first.close()
    await other.close()
    expect(statSync(place).mode & 0o777).toBe(0o700)

    const next = await open(`${server.url}/`, shared, { journalFolder: place })
    await recoverUsage({ journal: next.journal, store: next, log: new RecordingLog() })
    expect(idsIn(server)).toMatchObject({ rows: [[{ value: 'r1' }]] })
    await next.close()
    expect(readdirSync(place).filter((name) => /-\d+-\d+$/.test(name))).toHaveLength(1)
  })

  test('a process has ended when its place in the same folder is free, and another one may run', async () => {
    const server = await libsqlServer()
    const [here, there] = [folder(), folder()]
    const ended = await open(server.url, shared, { journalFolder: here })
    const elsewhere = await open(server.url, shared, { journalFolder: there })
    const processes = [ended, elsewhere].map(({ journal }) => nameProcess(journal))
    await ended.close()
    const next = await open(server.url, shared, { journalFolder: here })
    const options = { journal: next.journal, store: next, log: new RecordingLog() }
    expect(next.journal?.place).toBe(ended.journal?.place)
    expect(elsewhere.journal?.place).not.toBe(ended.journal?.place)
    // The place of the first is now that of the process itself.
    expect(await recoverUsage(options, processes)).toEqual(processes.slice(0, 1))
    await elsewhere.close()
    await next.close()
  })

  test('files that are older than the memory of the database are reported, and not saved', async () => {
    const server = await libsqlServer()
    const place = folder()
    const first = await open(server.url, shared, { journalFolder: place })
    append(first.journal as Journal, 'b1', ['r1'])
    await first.close()
    const name = String(readdirSync(place).find((each) => /-\d+-\d+$/.test(each)))
    const path = join(place, name)
    const aWeekAgo = Date.now() / 1000 - 7 * 86_400
    utimesSync(path, aWeekAgo, aWeekAgo)

    const reports: unknown[] = []
    const report = (...event: unknown[]) => reports.push(event)
    const next = await open(server.url, shared, { journalFolder: place, report })
    await recoverUsage({ journal: next.journal, store: next, log: new RecordingLog() })
    expect(idsIn(server)).toMatchObject({ rows: [] })
    expect(reports).toEqual([
      ['a journal of unsaved usage is too old: a part of it may be saved already', { path }],
    ])
    expect(readdirSync(place)).toContain(name)
    await next.close()
  })

  test('without a place for them the gateway opens all the same, and reports what a kill loses', async () => {
    const { url } = await libsqlServer()
    const file = join(folder(), 'file')
    writeFileSync(file, '')
    const reports: unknown[] = []
    const report = (...event: unknown[]) => reports.push(event)
    const store = await open(url, shared, { journalFolder: file, report })
    expect(store.journal).toBeUndefined()
    expect(reports).toEqual([
      [
        'there is no journal of unsaved usage: a process that is killed loses up to usage_flush_ms of it',
        { folder: file, code: 'EEXIST' },
      ],
    ])
    await store.close()
  })
})
