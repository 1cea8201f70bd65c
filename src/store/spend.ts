import type { InStatement } from '@libsql/client'
import { eq, inArray, sql } from 'drizzle-orm'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import type { ClientDatabase } from './audit.ts'
import { joinAmount } from './money.ts'
import { writeOnce } from './once.ts'
import { prepare } from './prepared.ts'
import { budgetGroups, processSpend, virtualKeys } from './schema.ts'
import type { SpendFlush, SpendShare, SpendText, SubjectSpend } from './spend-rows.ts'
import { spendText } from './spend-text.ts'
import { toTerm } from './term.ts'

/** Adds to the spend of keys and groups inside the database. */
export async function addSpend(db: ClientDatabase, flush: SpendFlush): Promise<void> {
  const { id, process, additions } = flush
  await writeOnce(db, id, spendStatements(db, { process, spend: spendText(additions) }))
}

/** Charges, and the process with a shared state that has made them. */
export interface Charges {
  readonly process?: string | undefined
  readonly spend: SpendText
}

/** Returns one statement for each table that changes. */
export function spendStatements(
  db: ClientDatabase,
  { process, spend: { key, group } }: Charges,
): readonly InStatement[] {
  const statements: InStatement[] = []
  if (key !== '[]') statements.push(addToKeys(db, { amounts: key }))
  if (group !== '[]') statements.push(addToGroups(db, { amounts: group }))
  if (process === undefined) return statements
  for (const amounts of [key, group]) {
    if (amounts !== '[]') statements.push(addShares(db, { process, amounts }))
  }
  return statements
}

const addToKeys = prepare((db) => addTo(db, virtualKeys))
const addToGroups = prepare((db) => addTo(db, budgetGroups))

function addTo(db: LibSQLDatabase, table: typeof virtualKeys | typeof budgetGroups) {
  const added = selectAmounts(db)
  const totalNanos = sql`(${table.spentTotalNano} + ${added.nano})`
  const spentNanos = sql`(${table.budgetSpentNano} + ${added.termNano})`
  const isSameTerm = sql`${added.since} = ${table.budgetSince}`
  const isNextTerm = sql`${added.since} > ${table.budgetSince}`
  return db
    .update(table)
    .set({
      spentTotalUsd: sql`${table.spentTotalUsd} + ${added.usd} + ${totalNanos} / 1000000000`,
      spentTotalNano: sql`${totalNanos} % 1000000000`,
      budgetSpentUsd: sql`case
        when ${isSameTerm} then ${table.budgetSpentUsd} + ${added.termUsd} + ${spentNanos} / 1000000000
        when ${isNextTerm} then ${added.termUsd}
        else ${table.budgetSpentUsd} end`,
      budgetSpentNano: sql`case
        when ${isSameTerm} then ${spentNanos} % 1000000000
        when ${isNextTerm} then ${added.termNano}
        else ${table.budgetSpentNano} end`,
      budgetSince: sql`max(${table.budgetSince}, ${added.since})`,
      // If the period has changed since the charge, the change has set the end.
      budgetResetsAt: sql`case
        when ${isNextTerm} and ${added.period} is ${table.budgetPeriod} then ${added.resetsAt}
        else ${table.budgetResetsAt} end`,
    })
    .from(added)
    .where(eq(table.id, added.id))
}

/** Adds to the part of one process, by the same rules. */
const addShares = prepare((db) => {
  const added = selectAmounts(db)
  const total = sql`(${processSpend.totalNano} + excluded.total_nano)`
  const term = sql`(${processSpend.termNano} + excluded.term_nano)`
  const isSameTerm = sql`excluded.since = ${processSpend.since}`
  const isNextTerm = sql`excluded.since > ${processSpend.since}`
  return db
    .insert(processSpend)
    .select(
      db
        .select({
          process: sql<string>`${sql.placeholder('process')}`.as('process'),
          subject: added.id,
          since: added.since,
          termUsd: added.termUsd,
          termNano: added.termNano,
          totalUsd: added.usd,
          totalNano: added.nano,
        })
        .from(added)
        // Without a condition SQLite takes the clause for conflicts for one of a join.
        .where(sql`true`),
    )
    .onConflictDoUpdate({
      target: [processSpend.process, processSpend.subject],
      set: {
        since: sql`max(${processSpend.since}, excluded.since)`,
        termUsd: sql`case
          when ${isSameTerm} then ${processSpend.termUsd} + excluded.term_usd + ${term} / 1000000000
          when ${isNextTerm} then excluded.term_usd
          else ${processSpend.termUsd} end`,
        termNano: sql`case
          when ${isSameTerm} then ${term} % 1000000000
          when ${isNextTerm} then excluded.term_nano
          else ${processSpend.termNano} end`,
        totalUsd: sql`${processSpend.totalUsd} + excluded.total_usd + ${total} / 1000000000`,
        totalNano: sql`${total} % 1000000000`,
      },
    })
})

/** Reads amounts as `toArray` of spend-text.ts writes them. */
function selectAmounts(db: LibSQLDatabase) {
  return db
    .select({
      id: sql<string>`value ->> 0`.as('added_id'),
      usd: sql<number>`value ->> 1`.as('added_usd'),
      nano: sql<number>`value ->> 2`.as('added_nano'),
      termUsd: sql<number>`value ->> 3`.as('added_term_usd'),
      termNano: sql<number>`value ->> 4`.as('added_term_nano'),
      since: sql<number>`value ->> 5`.as('added_since'),
      resetsAt: sql<number | null>`value ->> 6`.as('added_resets_at'),
      period: sql<string | null>`value ->> 7`.as('added_period'),
    })
    .from(sql`json_each(${sql.placeholder('amounts')})`)
    .as('added')
}

/** Reads the saved spend with the parts of the processes, all of the same moment. */
export async function readSpend(
  db: LibSQLDatabase,
  ids: readonly string[],
): Promise<readonly SubjectSpend[]> {
  const wanted = sql`(select value from json_each(${JSON.stringify(ids)}))`
  const read = (table: typeof virtualKeys | typeof budgetGroups) =>
    db.select(spendColumns(table)).from(table).where(inArray(table.id, wanted))
  const [keys, groups, shares] = await db.batch([
    read(virtualKeys),
    read(budgetGroups),
    db.select().from(processSpend).where(inArray(processSpend.subject, wanted)),
  ])
  const bySubject = new Map<string, SpendShare[]>()
  for (const { subject, process, since, termUsd, termNano, totalUsd, totalNano } of shares) {
    const amount = joinAmount(termUsd, termNano)
    const share = { process, since, amount, total: joinAmount(totalUsd, totalNano) }
    bySubject.set(subject, [...(bySubject.get(subject) ?? []), share])
  }
  return [...keys, ...groups].map((row) => ({
    id: row.id,
    budgetSpent: joinAmount(row.budgetSpentUsd, row.budgetSpentNano),
    spentTotal: joinAmount(row.spentTotalUsd, row.spentTotalNano),
    term: toTerm(row),
    shares: bySubject.get(row.id) ?? [],
  }))
}

function spendColumns(table: typeof virtualKeys | typeof budgetGroups) {
  return {
    id: table.id,
    budgetPeriod: table.budgetPeriod,
    budgetSince: table.budgetSince,
    budgetResetsAt: table.budgetResetsAt,
    budgetSpentUsd: table.budgetSpentUsd,
    budgetSpentNano: table.budgetSpentNano,
    spentTotalUsd: table.spentTotalUsd,
    spentTotalNano: table.spentTotalNano,
  }
}
