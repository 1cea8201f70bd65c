import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { drizzle } from 'drizzle-orm/libsql/sqlite3'
import { describe, expect, test } from 'vitest'
import { migrateDatabase } from '../../adapters/node/store/migrations.ts'
import { type Store, StoreFault } from '../../src/store/index.ts'
import { newKey, usageRow, usd } from '../store/support/rows.ts'
import { usageBatch } from '../support/usage-batch.ts'
import { listMigrations, migrationsWith } from './support/migrations.ts'
import {
  connect,
  folder,
  type OpenOptions,
  openStore,
  threadEntry,
  valueOf,
} from './support/store.ts'

function opened(path: string, options: OpenOptions = {}): Promise<Store> {
  return openStore(path, { entry: threadEntry, ...options })
}

describe('a database that cannot be used is refused with the reason', () => {
  async function readFault(path: string): Promise<string> {
    const fault = await opened(path).catch((error: unknown) => error)
    expect(fault).toBeInstanceOf(StoreFault)
    return (fault as StoreFault).message
  }

  test('a folder that is missing', async () => {
    const path = join(folder(), 'missing', 'gateway.db')
    expect(await readFault(path)).toMatch(/cannot open the database .*: no such folder: .*missing/)
  })

  test('a folder in the place of the file', async () => {
    expect(await readFault(folder())).toMatch(/a folder, not a file/)
  })

  test('a file that is not a database', async () => {
    const path = join(folder(), 'gateway.db')
    writeFileSync(path, 'a letter to a friend. '.repeat(1_000))
    expect(await readFault(path)).toMatch(/the file is not a database \(SQLITE_NOTADB/)
    expect(readFileSync(path, 'utf8')).toMatch(/^a letter/)
  })

  test('a database that is damaged', async () => {
    const path = join(folder(), 'gateway.db')
    const store = await opened(path)
    const rows = Array.from({ length: 2_000 }, () => usageRow())
    await store.addUsage(usageBatch('1', rows))
    await store.close()
    const bytes = readFileSync(path)
    bytes.fill(0xee, 20 * 4096, bytes.length - 20 * 4096)
    writeFileSync(path, bytes)
    expect(await readFault(path)).toMatch(/damaged; restore it from a backup/)
  })
})

describe('migrations', () => {
  const shipped = listMigrations().length

  /** The next version of the gateway, with one more migration. */
  async function upgrade(path: string): Promise<void> {
    const migrations = migrationsWith((entries) => {
      const { idx = 0, when = 0 } = entries.at(-1) ?? {}
      const next = { ...entries.at(-1), idx: idx + 1, when: when + 1_000, tag: 'next' }
      return [...entries, next]
    })
    writeFileSync(join(migrations, 'next.sql'), 'ALTER TABLE virtual_keys ADD colour text;')
    await migrateDatabase(drizzle({ client: connect(path) }), migrations)
  }

  test('an older database gets what it lacks, and keeps what it has', async () => {
    const path = join(folder(), 'gateway.db')
    const store = await opened(path)
    await store.createKey(newKey('a'))
    await store.close()
    await upgrade(path)
    await upgrade(path)
    expect(await valueOf(path, 'select id || colour is null from virtual_keys')).toBe(1)
    expect(await valueOf(path, 'select count(*) from __drizzle_migrations')).toBe(shipped + 1)
  })

  test('a newer database is refused, and stays as it is', async () => {
    const path = join(folder(), 'gateway.db')
    await (await opened(path)).close()
    await upgrade(path)
    await expect(opened(path)).rejects.toThrow(/created by a newer version of the gateway/)
    expect(await valueOf(path, 'select count(*) from __drizzle_migrations')).toBe(shipped + 1)
  })

  test('two processes may open a new database at once', async () => {
    const path = join(folder(), 'gateway.db')
    const stores = await Promise.all([1, 2, 3].map(() => opened(path)))
    await Promise.all(stores.map((store, at) => store.createKey(newKey(`key ${at}`))))
    expect(await valueOf(path, 'select count(*) from __drizzle_migrations')).toBe(shipped)
    expect((await stores[0]?.readAccounts())?.keys).toHaveLength(3)
  })
})

describe('while another process holds the lock', () => {
  async function spend(store: Store, id: string): Promise<void> {
    await store.addSpend({ id, additions: [{ scope: 'key', id: 'a', amount: usd(1) }] })
  }

  test('a write waits for it, and is done once', async () => {
    const path = join(folder(), 'gateway.db')
    const store = await opened(path)
    await store.createKey(newKey('a'))
    const other = await connect(path).transaction('write')
    const released = sleep(1_600).then(() => other.commit())
    const writes = ['1', '2', '3'].map((id) => spend(store, id))
    await Promise.all([released, ...writes])
    await spend(store, '4')
    await store.addUsage(usageBatch('5', [usageRow()]))
    await store.close()
    expect(await valueOf(path, 'select budget_spent_usd from virtual_keys')).toBe(4)
    expect(await valueOf(path, 'select count(*) from usage_log')).toBe(1)
  })

  test('calls that wait for each other give up together, not one after the other', async () => {
    const path = join(folder(), 'gateway.db')
    const store = await opened(path, { timeout: 500 })
    await store.createKey(newKey('a'))
    const other = await connect(path).transaction('write')
    const start = performance.now()
    const writes = ['1', '2', '3', '4'].map((id) => spend(store, id))
    for (const write of writes) await expect(write).rejects.toThrow(StoreFault)
    expect(performance.now() - start).toBeLessThan(1_500)
    await other.rollback()
  })

  test.runIf(process.platform === 'linux')(
    'a write that waits piles up no descriptors',
    async () => {
      const path = join(folder(), 'gateway.db')
      const store = await opened(path, { timeout: 300 })
      await store.createKey(newKey('a'))
      const other = await connect(path).transaction('write')
      const descriptors = () => readdirSync('/proc/self/fd').length
      await expect(spend(store, '1')).rejects.toThrow(StoreFault)
      const before = descriptors()
      for (let round = 0; round < 4; round++) {
        await expect(spend(store, '1')).rejects.toThrow(StoreFault)
      }
      expect(descriptors()).toBeLessThanOrEqual(before + 1)
      await other.rollback()
    },
  )

  test('abandoned calls end at once, and the store closes', async () => {
    const path = join(folder(), 'gateway.db')
    const store = await opened(path, { timeout: 60_000 })
    await store.createKey(newKey('a'))
    const other = await connect(path).transaction('write')
    const writes = ['1', '2'].map((id) => spend(store, id))
    await sleep(100)
    store.abandon()
    const ends = await Promise.allSettled(writes)
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(spend(store, '3')).rejects.toThrow('the database is closed')
    await store.close()
    await other.rollback()
    expect(await valueOf(path, 'select budget_spent_usd from virtual_keys')).toBe(0)
  })

  test('a write gives up in the end; sent again, it is done once', async () => {
    const path = join(folder(), 'gateway.db')
    const store = await opened(path, { timeout: 0 })
    await store.createKey(newKey('a'))
    const other = await connect(path).transaction('write')
    await expect(spend(store, '1')).rejects.toMatchObject({
      message: 'the database is locked by another process',
      code: 'SQLITE_BUSY',
    })
    await other.rollback()
    await spend(store, '1')
    await spend(store, '1')
    await store.close()
    expect(await valueOf(path, 'select budget_spent_usd from virtual_keys')).toBe(1)
  })
})

describe('while the gateway runs', () => {
  type Report = [string, unknown]

  async function reporting(path: string): Promise<{ store: Store; reports: Report[] }> {
    const reports: Report[] = []
    const report = (...entry: Report) => reports.push(entry)
    return { store: await opened(path, { report }), reports }
  }

  test.each([['alone'], ['with its journal']])(
    'the file is deleted %s: writes go into a new one, and a report is made',
    async (how) => {
      const path = join(folder(), 'gateway.db')
      const { store, reports } = await reporting(path)
      await store.createKey(newKey('a'))
      rmSync(path)
      if (how !== 'alone') for (const end of ['wal', 'shm']) rmSync(`${path}-${end}`)
      await store.addUsage(usageBatch('1', [usageRow()]))
      expect((await store.readAccounts()).keys).toEqual([])
      expect(statSync(path).mode & 0o777).toBe(0o600)
      expect(reports).toEqual([[expect.stringContaining('was deleted'), { path }]])
      await store.close()
      expect(await valueOf(path, 'select count(*) from usage_log')).toBe(1)
      expect(await valueOf(path, 'pragma integrity_check')).toBe('ok')
    },
  )

  test('the write-ahead log grows during a long read, and shrinks with the writes after it', async () => {
    const path = join(folder(), 'gateway.db')
    const { store, reports } = await reporting(path)
    await store.createKey(newKey('a'))
    const reader = await connect(path).transaction('read')
    await reader.execute('select count(*) from virtual_keys')
    const rename = (letter: string) =>
      store.updateKey(newKey('a').id, { name: letter.repeat(4_500_000) })
    for (const letter of 'abcd') await rename(letter)
    const idle = 16 * 1024 * 1024
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(idle)
    await reader.commit()
    for (const letter of 'ab') await rename(letter)
    expect(statSync(`${path}-wal`).size).toBe(idle)
    expect(reports).toEqual([])
  })

  test('a write-ahead log that passes 100 MB logs one warning each time', async () => {
    const path = join(folder(), 'gateway.db')
    const { store, reports } = await reporting(path)
    const [wal, bytes] = [`${path}-wal`, 100_000_001]
    const warning = [expect.stringContaining('keeps growing'), { path: wal, bytes }, 'warn']
    for (const expected of [[warning], [warning, warning]]) {
      await store.createKey(newKey(`a${expected.length}`))
      truncateSync(wal, bytes)
      for (const id of 'bc') await store.createKey(newKey(`${id}${expected.length}`))
      expect(reports).toEqual(expected)
      await connect(path).execute('pragma wal_checkpoint(truncate)')
      await store.createKey(newKey(`d${expected.length}`))
    }
    truncateSync(wal, bytes - 1)
    await store.createKey(newKey('e'))
    expect(reports).toHaveLength(2)
  })

  test('the file is replaced: the new one is used, undamaged, and a report is made', async () => {
    const directory = folder()
    const [path, backup] = [join(directory, 'gateway.db'), join(directory, 'backup.db')]
    const earlier = await opened(backup)
    await earlier.createKey(newKey('from the backup'))
    await earlier.addUsage(
      usageBatch(
        '1',
        Array.from({ length: 500 }, () => usageRow()),
      ),
    )
    await earlier.close()
    const { store, reports } = await reporting(path)
    await store.createKey(newKey('a'))
    renameSync(backup, path)
    const { keys } = await store.readAccounts()
    expect(keys.map(({ id }) => id)).toEqual(['from the backup'])
    await store.createKey(newKey('b'))
    expect(reports).toEqual([[expect.stringContaining('was replaced'), { path }]])
    await store.close()
    expect(await valueOf(path, 'pragma integrity_check')).toBe('ok')
    expect(await valueOf(path, 'select count(*) from virtual_keys')).toBe(2)
    expect(await valueOf(path, 'select count(*) from usage_log')).toBe(500)
  })

  test('the file is deleted while a write waits for its lock: it goes into the new one', async () => {
    const path = join(folder(), 'gateway.db')
    const { store } = await reporting(path)
    const other = await connect(path).transaction('write')
    const writing = store.addUsage(usageBatch('1', [usageRow()]))
    await sleep(200)
    rmSync(path)
    await writing
    await other.rollback()
    await store.close()
    expect(await valueOf(path, 'select count(*) from usage_log')).toBe(1)
  })

  test('the folder disappears: writes are refused, until it is back', async () => {
    const directory = join(folder(), 'data')
    mkdirSync(directory)
    const path = join(directory, 'gateway.db')
    const { store } = await reporting(path)
    rmSync(directory, { recursive: true })
    for (const id of ['1', '1']) {
      await expect(store.addUsage(usageBatch(id, [usageRow()]))).rejects.toThrow(/no such folder/)
    }
    mkdirSync(directory)
    await store.addUsage(usageBatch('1', [usageRow()]))
    await store.close()
    expect(await valueOf(path, 'select count(*) from usage_log')).toBe(1)
  })

  test('an error of the database has neither the statement nor its values', async () => {
    const path = join(folder(), 'gateway.db')
    const { store } = await reporting(path)
    await store.createKey(newKey('a', { digest: 'secret-digest' }))
    for (const write of [
      store.createKey(newKey('b', { digest: 'secret-digest' })),
      store
        .rotateKey(newKey('c').id, { digest: 'x', graceEndsAt: null })
        .then(() => store.createGroup({ ...newKey('g'), name: null } as never)),
    ]) {
      await expect(write).rejects.toMatchObject({
        message: 'the database failed',
        code: 'SQLITE_CONSTRAINT',
      })
    }
    expect((await store.readAccounts()).keys).toHaveLength(1)
  })
})
