import Database from 'libsql'
import type { SeenRequest } from './load.ts'

/** What the database says about the requests that clients have seen. */
export interface Books {
  readonly rows: number
  /** Answers without a row. */
  readonly missing: number
  /** Refusals for a spent budget without a row. They cost nothing, and a full queue drops them. */
  readonly missingRefusals: number
  /** Requests with more than one row, besides a charge and the row that takes it back. */
  readonly doubled: number
  /** Answered requests whose rows have another cost than their answer. */
  readonly wrong: number
  /** Rows of requests that no client has sent. */
  readonly unknown: number
  /** Requests that were cut off and have a cost. */
  readonly chargedCuts: number
  /** Requests that were refused because the shared state was away, and have a cost. */
  readonly chargedAway: number
  /** Rows with a negative cost: they take back the charge for a gateway that was taken for dead. */
  readonly refunds: number
  /** By how many nano-dollars the spend of all keys and groups differs from the sums of their rows. */
  readonly difference: number
  /** Keys and groups that have spent more than their cap. */
  readonly overCap: number
  readonly isIntact: boolean
}

/** Reads the books of a database that no request changes. */
export function readBooks(path: string, seen: readonly SeenRequest[]): Books {
  const database = new Database(path)
  const query = (sql: string) => database.prepare(sql).raw().all() as unknown[][]
  try {
    const rows = query('select request_id, cost_usd * 1000000000 + cost_nano from usage_log')
    const costs = new Map<string, number[]>()
    for (const [id, nano] of rows) {
      const known = costs.get(String(id)) ?? []
      costs.set(String(id), [...known, Number(nano)])
    }
    const sent = new Map(seen.map((request) => [request.id, request]))
    const count = (holds: (request: SeenRequest, costs: readonly number[]) => boolean) =>
      seen.filter((request) => holds(request, costs.get(request.id) ?? [])).length
    const accounts = query(accountsQuery).map((row) => row.map(Number))
    return {
      rows: rows.length,
      missing: count(({ end }, found) => end === 'answered' && found.length === 0),
      missingRefusals: count(({ end }, found) => end === 'refused' && found.length === 0),
      doubled: count((_, found) => found.length - 2 * found.filter(isRefund).length > 1),
      wrong: count(
        ({ end, nano }, found) => end === 'answered' && found.length > 0 && total(found) !== nano,
      ),
      unknown: [...costs.keys()].filter((id) => !sent.has(id)).length,
      chargedCuts: count(({ end }, found) => end === 'cut' && total(found) > 0),
      chargedAway: count(({ end }, found) => end === 'away' && total(found) !== 0),
      refunds: [...costs.values()].flat().filter(isRefund).length,
      difference: accounts.reduce(
        (sum, [spent = 0, explained = 0]) => sum + Math.abs(spent - explained),
        0,
      ),
      overCap: accounts.filter(([spent = 0, , cap = 0]) => cap > 0 && spent > cap).length,
      isIntact: query('pragma integrity_check')[0]?.[0] === 'ok',
    }
  } finally {
    database.close()
  }
}

/** Returns the sum of the rows of each key and group, in nano-dollars. */
export function sumRows(path: string): ReadonlyMap<string, number> {
  const database = new Database(path)
  const sums = ['key_id', 'group_id'].map(
    (column) =>
      `select ${column}, sum(cost_usd * 1000000000 + cost_nano) from usage_log group by ${column}`,
  )
  try {
    const rows = database.prepare(sums.join(' union all ')).raw().all() as unknown[][]
    return new Map(rows.map(([id, nano]) => [String(id), Number(nano)]))
  } finally {
    database.close()
  }
}

function total(costs: readonly number[]): number {
  return costs.reduce((sum, cost) => sum + cost, 0)
}

function isRefund(cost: number): boolean {
  return cost < 0
}

/** By key and by group: the spend, the sum of the rows, and the cap or 0, in nano-dollars. */
const accountsQuery = ['virtual_keys key_id', 'budget_groups group_id']
  .map((names) => {
    const [table, column] = names.split(' ')
    return `
      select budget_spent_usd * 1000000000 + budget_spent_nano,
        (select coalesce(sum(cost_usd * 1000000000 + cost_nano), 0)
          from usage_log where ${column} = ${table}.id),
        coalesce(budget_max_usd * 1000000000 + budget_max_nano, 0)
      from ${table}`
  })
  .join(' union all ')

/** Keeps other connections from writing until the function that it returns is called. */
export function lockDatabase(path: string): () => void {
  const database = new Database(path)
  database.exec('pragma busy_timeout = 5000; begin immediate')
  return () => {
    database.exec('rollback')
    database.close()
  }
}
