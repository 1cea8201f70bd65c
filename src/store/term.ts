import { and, eq, lte, type SQL, sql } from 'drizzle-orm'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import {
  type BudgetPeriod,
  type BudgetTerm,
  budgetPeriods,
  periodEnd,
  periodStart,
} from '../core/budget-period.ts'
import type { UnixSeconds } from '../core/ids.ts'
import type { PeriodChange } from './account-rows.ts'
import type { budgetGroups, virtualKeys } from './schema.ts'

type Budgeted = typeof budgetGroups | typeof virtualKeys

/** The columns of a new budget: its first term ends with the period that contains `at`. */
export function newTermColumns({ period, at }: PeriodChange) {
  return { budgetPeriod: period, budgetResetsAt: period === null ? null : periodEnd(period, at) }
}

/** The columns of a budget whose period is set. An unchanged period keeps its end. */
export function periodColumns(table: Budgeted, change: PeriodChange) {
  const { budgetPeriod, budgetResetsAt } = newTermColumns(change)
  const isSame = sql`${table.budgetPeriod} is ${budgetPeriod}`
  return {
    budgetPeriod,
    budgetResetsAt: sql`case when ${isSame} then ${table.budgetResetsAt} else ${budgetResetsAt} end`,
  }
}

export interface DueTurn {
  readonly table: Budgeted
  readonly id: string
  /** Undefined: resets nothing. */
  readonly at: UnixSeconds | undefined
}

/**
 * Resets a budget whose term is over at `at`. The gateway does the same in memory, and writes it only with the
 * next charge: before its period changes, the row has to follow.
 */
export function turnIfDue(db: LibSQLDatabase, { table, id, at = 0 }: DueTurn) {
  const begins = byPeriod(table, (period) => periodStart(period, at))
  return db
    .update(table)
    .set({
      budgetSpentUsd: 0,
      budgetSpentNano: 0,
      budgetSince: sql`max(${begins}, ${table.budgetSince} + 1)`,
      budgetResetsAt: byPeriod(table, (period) => periodEnd(period, at)),
    })
    .where(and(eq(table.id, id), lte(table.budgetResetsAt, at)))
}

function byPeriod(table: Budgeted, time: (period: BudgetPeriod) => UnixSeconds): SQL {
  const cases = budgetPeriods.map((period) => sql`when ${period} then ${time(period)}`)
  return sql`case ${table.budgetPeriod} ${sql.join(cases, sql` `)} end`
}

interface TermRow {
  readonly budgetPeriod: BudgetPeriod | null
  readonly budgetSince: UnixSeconds
  readonly budgetResetsAt: UnixSeconds | null
}

export function toTerm({ budgetPeriod, budgetSince, budgetResetsAt }: TermRow): BudgetTerm {
  return { period: budgetPeriod, since: budgetSince, resetsAt: budgetResetsAt }
}
