import type { BudgetGroup } from '../../../src/core/accounts.ts'
import { type BudgetTerm, periodEnd, periodStart } from '../../../src/core/budget-period.ts'
import type { NanoUsd } from '../../../src/core/ids.ts'
import type {
  AccountRows,
  GroupRow,
  KeyRow,
  NewKey,
  PeriodChange,
  SavedSpend,
  SpendAddition,
  SpendShare,
  SubjectSpend,
} from '../../../src/store/index.ts'

/** The rules of saved spend in their simplest form, without SQL: what the database is compared with. */
export class PlainSpend {
  readonly #rows = { key: new Map<string, KeyRow>(), group: new Map<string, GroupRow>() }
  readonly #shares = new Map<string, Map<string, SpendShare>>()

  addKey(key: NewKey): void {
    const fresh = { formerDigest: null, graceEndsAt: null, deletedAt: null }
    this.#rows.key.set(key.id, { ...key, ...fresh, ...nothingSpent(key) })
  }

  addGroup(group: BudgetGroup): void {
    this.#rows.group.set(group.id, { ...group, ...nothingSpent(group) })
  }

  changePeriod(scope: SpendAddition['scope'], id: string, change: PeriodChange): void {
    if (scope === 'key') this.#replace(this.#rows.key, id, (row) => withPeriod(row, change))
    else this.#replace(this.#rows.group, id, (row) => withPeriod(row, change))
  }

  /** Adds one charge, and its part of what the process has charged. */
  charge(addition: SpendAddition, process?: string): void {
    const { scope, id } = addition
    if (scope === 'key') this.#replace(this.#rows.key, id, (row) => charged(row, addition))
    else this.#replace(this.#rows.group, id, (row) => charged(row, addition))
    if (process === undefined) return
    const shares = this.#shares.get(id) ?? new Map<string, SpendShare>()
    this.#shares.set(id, shares)
    shares.set(process, grown(shares.get(process), process, addition))
  }

  readAccounts(): AccountRows {
    return { keys: [...this.#rows.key.values()], groups: [...this.#rows.group.values()] }
  }

  readSpend(ids: readonly string[]): readonly SubjectSpend[] {
    return ids.flatMap((id) => {
      const row = this.#rows.key.get(id) ?? this.#rows.group.get(id)
      if (!row) return []
      const { budgetSpent, spentTotal, term } = row
      return [
        { id, budgetSpent, spentTotal, term, shares: [...(this.#shares.get(id)?.values() ?? [])] },
      ]
    })
  }

  #replace<Row>(rows: Map<string, Row>, id: string, change: (row: Row) => Row): void {
    const row = rows.get(id)
    if (row) rows.set(id, change(row))
  }
}

const noMoney = 0n as NanoUsd

/** The spend of a new row; its term ends with the period that contains its creation. */
function nothingSpent({ budgetPeriod: period, createdAt }: BudgetGroup | NewKey): SavedSpend {
  const resetsAt = period === null ? null : periodEnd(period, createdAt)
  return { budgetSpent: noMoney, spentTotal: noMoney, term: { period, since: 0, resetsAt } }
}

function withPeriod<Row extends KeyRow | GroupRow>(row: Row, { period, at }: PeriodChange): Row {
  const { term } = row
  const isOver = term.period !== null && term.resetsAt !== null && at >= term.resetsAt
  const current: BudgetTerm = isOver
    ? {
        period: term.period,
        since: Math.max(periodStart(term.period, at), term.since + 1),
        resetsAt: periodEnd(term.period, at),
      }
    : term
  const resetsAt =
    period === current.period ? current.resetsAt : period === null ? null : periodEnd(period, at)
  return {
    ...row,
    budgetSpent: isOver ? noMoney : row.budgetSpent,
    budgetPeriod: period,
    term: { period, since: current.since, resetsAt },
  }
}

const firstTerm: BudgetTerm = { period: null, since: 0, resetsAt: null }

function charged<Row extends KeyRow | GroupRow>(row: Row, addition: SpendAddition): Row {
  const { amount, term = firstTerm, termAmount = amount } = addition
  const isNext = term.since > row.term.since
  const isSame = term.since === row.term.since
  const spent = isNext ? termAmount : isSame ? row.budgetSpent + termAmount : row.budgetSpent
  return {
    ...row,
    budgetSpent: spent as NanoUsd,
    spentTotal: (row.spentTotal + amount) as NanoUsd,
    term: {
      period: row.term.period,
      since: isNext ? term.since : row.term.since,
      resetsAt: isNext && term.period === row.term.period ? term.resetsAt : row.term.resetsAt,
    },
  }
}

function grown(
  share: SpendShare | undefined,
  process: string,
  { amount, term = firstTerm, termAmount = amount }: SpendAddition,
): SpendShare {
  const before = share ?? { process, since: 0, amount: noMoney, total: noMoney }
  const isOver = term.since < before.since
  const kept = term.since === before.since || isOver ? before.amount : noMoney
  return {
    process,
    since: Math.max(term.since, before.since),
    amount: (kept + (isOver ? 0n : termAmount)) as NanoUsd,
    total: (before.total + amount) as NanoUsd,
  }
}
