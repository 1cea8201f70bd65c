import { join } from 'node:path'
import type { Client } from '@libsql/client/sqlite3'
import { drizzle } from 'drizzle-orm/libsql/sqlite3'
import { describe, expect, test } from 'vitest'
import { migrateDatabase } from '../../adapters/node/store/migrations.ts'
import { newKey, usageRow } from '../store/support/rows.ts'
import { refusedBatch, usageBatch } from '../support/usage-batch.ts'
import { listMigrations, migrationsWith } from './support/migrations.ts'
import { connect, folder, openStore, threadEntry } from './support/store.ts'

/*
 * Opens databases as each former version of the gateway has left them, with rows in every table.
 */

interface Table {
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly type: string }[]
}

/** The tables of a database, groups before the keys that refer to them. */
async function listTables(client: Client): Promise<readonly Table[]> {
  const { rows } = await client.execute(
    `select t.name as "table", c.name, c.type from sqlite_master t, pragma_table_info(t.name) c
     where t.type = 'table' and t.name not like 'sqlite_%' and t.name not like '\\_\\_%' escape '\\'
     order by t.name, c.cid`,
  )
  const names = [...new Set(rows.map(({ table }) => String(table)))]
  return names.map((table) => ({
    name: table,
    columns: rows
      .filter((row) => row['table'] === table)
      .map(({ name, type }) => ({ name: String(name), type: String(type).toLowerCase() })),
  }))
}

/** Values of columns that the gateway parses. */
const parsed: Readonly<Record<string, string>> = {
  group_id: 'id 1',
  capability: 'embed',
  api: 'embeddings',
  models: '["m"]',
  metadata: '{"team":"a"}',
  tool_calls: '{"web_search":2}',
  settings: '{}',
  purpose: 'canary',
  budget_period: 'day',
}
const booleans = new Set(['disabled', 'stream', 'estimated', 'enabled', 'cache_hit'])

/** Writes two rows into every table, with a value in every column. */
async function fill(client: Client): Promise<void> {
  for (const { name: table, columns } of await listTables(client)) {
    for (const row of [1, 2]) {
      const args = columns.map(({ name, type }, at) => {
        if (booleans.has(name)) return row - 1
        if (type === 'text') return parsed[name] ?? `${name} ${row}`
        return name === 'id' || name === 'seq' ? row : row * 100 + at
      })
      const sql = `insert into ${table} values (${columns.map(() => '?').join()})`
      await client.execute({ sql, args })
    }
  }
}

/** Returns every row of these tables, with these columns only. */
async function dump(client: Client, tables: readonly Table[]): Promise<unknown> {
  const entries = tables.map(async ({ name, columns }) => {
    const names = columns.map((column) => column.name).join()
    const { rows } = await client.execute(`select ${names} from ${name} order by rowid`)
    return [name, rows.map((row) => Object.values(row))]
  })
  return Object.fromEntries(await Promise.all(entries))
}

/** Creates a database with the first migrations only. */
async function createOld(path: string, count: number): Promise<Client> {
  const client = connect(path)
  const migrations = migrationsWith((entries) => entries.slice(0, count))
  await migrateDatabase(drizzle({ client }), migrations)
  return client
}

describe('a database of a former version', () => {
  const versions = listMigrations().map(({ tag }, at) => [tag, at + 1] as const)

  test.for(versions)('that of %s keeps every row, and works', async ([, count]) => {
    const path = join(folder(), 'gateway.db')
    const client = await createOld(path, count)
    await fill(client)
    const tables = await listTables(client)
    const before = await dump(client, tables)
    client.close()

    const store = await openStore(path, { entry: threadEntry })
    const migrated = connect(path)
    expect(await dump(migrated, tables)).toEqual(before)
    for (const check of ['integrity_check', 'foreign_key_check']) {
      const { rows } = await migrated.execute(`pragma ${check}`)
      expect(rows.filter((row) => row[0] !== 'ok')).toEqual([])
    }

    const { keys, groups } = await store.readAccounts()
    const spent = ({ budgetSpent, spentTotal }: (typeof keys | typeof groups)[number]) =>
      budgetSpent > 0n && spentTotal > 0n
    expect(keys.map(({ digest, groupId }) => [digest, groupId])).toEqual([
      ['digest 1', 'id 1'],
      ['digest 2', 'id 1'],
    ])
    expect([...keys, ...groups].map(spent)).toEqual([true, true, true, true])
    const rows = await store.listUsage({ since: 0, until: 1_000, cursor: 0, limit: 9 })
    expect(rows).toMatchObject([
      { requestId: 'request_id 1', api: 'embeddings', metadata: { team: 'a' } },
      { requestId: 'request_id 2', api: 'embeddings', metadata: { team: 'a' } },
    ])
    const sealed = [{ sealed: 'sealed 1' }, { sealed: 'sealed 2' }]
    expect(await store.readSealed('canary')).toMatchObject(sealed)

    await store.addRefused(refusedBatch({ requestId: 'new' }))
    const listed = await store.listRequests({ direction: 'older', limit: 9 })
    expect(listed.rows.map(({ requestId }) => requestId)).toContain('new')
    await store.createKey(newKey('new'))
    await store.addUsage(usageBatch('new', [usageRow()]))
    expect((await store.readAccounts()).keys).toHaveLength(3)
  })
})
