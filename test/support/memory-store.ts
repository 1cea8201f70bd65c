import {
  type Column,
  getTableColumns,
  getTableName,
  type InferSelectModel,
  type Query,
} from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { DatabaseConnection } from '../../adapters/node/store/connection.ts'
import type { AuditEntry } from '../../src/core/audit.ts'
import { type ClientDatabase, type DatabaseStore, databaseStore } from '../../src/store/database.ts'
import { toGroupRow } from '../../src/store/groups.ts'
import {
  type AuditedStore,
  type AuditRow,
  auditedMethods,
  type GroupRow,
  type Journal,
  type KeyRow,
  type NewUsageRow,
  parseUsageRows,
  type SpendFlush,
  type Store,
  StoreFault,
  type StoreMethod,
  storeMethods,
  type UsageBatch,
  UsageBatchBuilder,
  type UsageRow,
} from '../../src/store/index.ts'
import { toKeyRow } from '../../src/store/keys.ts'
import { capColumns, splitAmount } from '../../src/store/money.ts'
import {
  auditLog,
  budgetGroups,
  prices,
  refusedRequests,
  usageLog,
  virtualKeys,
} from '../../src/store/schema.ts'
import { usageColumns } from '../../src/store/usage-columns.ts'
import { toUsageRow } from '../../src/store/usage-values.ts'
import { copyMemoryDatabase, openMemoryDatabase, toClientDatabase } from './memory-database.ts'

/**
 * The fault to inject: `none` executes calls, `refuse` fails them without a change, and
 * `lose-answer` executes them but reports a failure to the caller.
 */
export type StoreTrouble = 'none' | 'refuse' | 'lose-answer'

/** A class with a method for each call, all of which run by `call`. */
class StoreCalls {
  static {
    for (const method of storeMethods) {
      Object.defineProperty(StoreCalls.prototype, method, {
        writable: true,
        value(this: MemoryStore, ...args: unknown[]) {
          return this.call(method, args)
        },
      })
    }
  }
}

/** The database of the gateway, in memory. Tests can inspect its rows, inject faults and hold calls. */
export class MemoryStore
  // Its methods are defined above.
  extends (StoreCalls as new () => Pick<Store, StoreMethod>)
  implements Store
{
  journal: Journal | undefined
  /** What was written, by the ids of the calls. */
  readonly flushes = new Map<string, SpendFlush>()
  readonly batches = new Map<string, readonly NewUsageRow[]>()
  /** The names of all calls, including failed ones. */
  readonly calls: string[] = []
  /** The number of rows that `readAccounts` has returned. */
  readRows = 0
  trouble: StoreTrouble = 'none'
  closed = false
  readonly #connection: DatabaseConnection
  readonly #database: ClientDatabase
  readonly #store: DatabaseStore
  #turn: Promise<unknown> = Promise.resolve()
  #gate: Promise<void> = Promise.resolve()

  /** Without `copied` it is empty. */
  constructor(copied?: MemoryStore) {
    super()
    this.#connection = copied ? copyMemoryDatabase(copied.#connection) : openMemoryDatabase()
    this.#database = toClientDatabase(this.#connection)
    this.#store = databaseStore(this.#database)
  }

  get keys(): ReadonlyMap<string, KeyRow> {
    const rows = this.#readTable(virtualKeys).map(toKeyRow)
    return new Map(rows.map((row) => [row.id, row]))
  }

  get groups(): ReadonlyMap<string, GroupRow> {
    const rows = this.#readTable(budgetGroups).map(toGroupRow)
    return new Map(rows.map((row) => [row.id, row]))
  }

  get usage(): readonly UsageRow[] {
    const names = usageColumns.map(({ name }) => usageLog[name].name)
    const rows = this.read(`select id, ${names.join()} from usage_log order by id`)
    const isJson = names.map((name) => name === 'metadata' || name === 'tool_calls')
    return rows.map(([id, ...values]) =>
      toUsageRow([id, ...values.map((value, at) => (isJson[at] ? parseText(value) : value))]),
    )
  }

  get audit(): readonly AuditRow[] {
    // Only such actions are written.
    return this.#readTable(auditLog) as readonly AuditRow[]
  }

  /** The rows of refused requests. */
  get refused(): readonly InferSelectModel<typeof refusedRequests>[] {
    return this.#readTable(refusedRequests)
  }

  /** The texts of the prices that rows name, by their ids. */
  get prices(): ReadonlyMap<string, string> {
    return new Map(this.#readTable(prices).map((row) => [row.id, row.prices]))
  }

  /** Suspends further calls until the returned function is called. */
  hold(): () => void {
    let release = () => {}
    this.#gate = new Promise((resolve) => {
      release = resolve
    })
    return () => release()
  }

  /** Adds a key, a group or rows of the usage log at once, which is no call. */
  addKey(row: KeyRow): void {
    this.#insert(this.#database.insert(virtualKeys).values({ ...row, ...toBudgetColumns(row) }))
  }

  addGroup(row: GroupRow): void {
    this.#insert(this.#database.insert(budgetGroups).values({ ...row, ...toBudgetColumns(row) }))
  }

  addRows(rows: readonly NewUsageRow[]): void {
    const batch = new UsageBatchBuilder(crypto.randomUUID())
    for (const row of rows) batch.add(row)
    void this.#store.addUsage(batch.text())
  }

  /** Runs statements, or reads the rows of one, which is no call either. */
  run(sql: string): void {
    this.#connection.run(sql)
  }

  read(sql: string): unknown[][] {
    return this.#connection.execute({ sql, args: [] }).rows
  }

  audited(entry: AuditEntry): AuditedStore {
    const audited = this.#store.audited(entry)
    const writes = auditedMethods.map((method) => {
      const write = audited[method] as (...args: unknown[]) => Promise<unknown>
      return [method, (...args: unknown[]) => this.#enqueue(method, () => write(...args))]
    })
    // Each has the arguments and the result of its method.
    return Object.fromEntries(writes) as AuditedStore
  }

  abandon(): void {
    this.trouble = 'refuse'
  }

  async close(): Promise<void> {
    await this.#turn.catch(() => {})
    this.closed = true
  }

  call(method: StoreMethod, args: readonly unknown[]): Promise<unknown> {
    return this.#enqueue(method, () => this.#execute(method, args))
  }

  /** Runs calls one by one, in order. */
  #enqueue<T>(name: string, run: () => Promise<T>): Promise<T> {
    this.calls.push(name)
    const gate = this.#gate
    const done = this.#turn.then(async () => {
      await gate
      if (this.closed || this.trouble === 'refuse') throw new StoreFault('the database is out')
      const answer = await run()
      if (this.trouble === 'lose-answer') throw new StoreFault('the answer is lost')
      return answer
    })
    this.#turn = done.catch(() => {})
    return done
  }

  /** The caller passes the arguments of the method. */
  async #execute(method: StoreMethod, args: readonly unknown[]): Promise<unknown> {
    const [first, ...others] = args
    switch (method) {
      case 'addSpend': {
        const flush = first as SpendFlush
        await this.#store.addSpend(flush)
        if (!this.#isWritten(flush.id)) this.flushes.set(flush.id, flush)
        return
      }
      case 'addUsage':
      case 'addLostUsage': {
        const batch = first as UsageBatch
        const add = this.#store[method] as (...args: unknown[]) => Promise<unknown>
        const result = await add(batch.text(), ...others)
        if (result !== false && !this.#isWritten(batch.id)) {
          this.batches.set(batch.id, batch.rows())
        }
        return result
      }
      case 'listUsage': {
        const rows = await this.#store.listUsage(...(args as Parameters<Store['listUsage']>))
        return parseUsageRows(`[${rows.join()}]`)
      }
      case 'readAccounts': {
        const rows = await this.#store.readAccounts(...(args as [number | undefined]))
        this.readRows += rows.keys.length + rows.groups.length
        return rows
      }
      default:
        return (this.#store[method] as (...args: readonly unknown[]) => Promise<unknown>)(...args)
    }
  }

  /** Flushes and batches have their ids in common. */
  #isWritten(id: string): boolean {
    return this.flushes.has(id) || this.batches.has(id)
  }

  #insert(insert: { readonly toSQL: () => Query }): void {
    const { sql, params } = insert.toSQL()
    this.#connection.execute({ sql, args: params })
  }

  /** Reads a table in the order of insertion. */
  #readTable<Table extends SQLiteTable>(table: Table): InferSelectModel<Table>[] {
    const columns = Object.entries<Column>(getTableColumns(table))
    const names = columns.map(([, { name }]) => name)
    const rows = this.read(`select ${names.join()} from ${getTableName(table)} order by rowid`)
    return rows.map((values) => {
      const fields = columns.map(([field, column], at) => {
        const value = values[at]
        return [field, value === null ? null : column.mapFromDriverValue(value)]
      })
      return Object.fromEntries(fields)
    })
  }
}

function toBudgetColumns({ budgetMax, budgetSpent, spentTotal, term }: KeyRow | GroupRow) {
  const [spent, total] = [splitAmount(budgetSpent), splitAmount(spentTotal)]
  return {
    ...capColumns(budgetMax),
    budgetSpentUsd: Number(spent.usd),
    budgetSpentNano: Number(spent.nano),
    spentTotalUsd: Number(total.usd),
    spentTotalNano: Number(total.nano),
    budgetSince: term.since,
    budgetResetsAt: term.resetsAt,
  }
}

function parseText(value: unknown): unknown {
  return typeof value === 'string' ? JSON.parse(value) : value
}
