import type { BudgetScope } from '../core/accounts.ts'
import type { NanoUsd } from '../core/ids.ts'
import type { Meters, Sample } from '../core/metrics.ts'
import { toUsd } from '../core/money.ts'
import { toLabelValue } from './label-value.ts'
import { seriesTable } from './table.ts'

/** A key or a group with the spend of its budget. */
export interface BudgetReading {
  readonly scope: BudgetScope
  readonly record: {
    readonly id: string
    readonly name: string
    /** Null: no cap. */
    readonly budgetMax: NanoUsd | null
    readonly deletedAt: number | null
  }
  readonly spent: NanoUsd
}

export interface BudgetSeriesOptions {
  /** In the order in which they get series of their own. */
  readonly budgets: () => Iterable<BudgetReading>
  /** Maximum number of budgets with series of their own. */
  readonly maxSeries: number
}

/** Adds the series of budgets, which are read at each scrape. */
export function addBudgetGauges(meters: Meters, options: BudgetSeriesOptions): void {
  meters.read({
    ...seriesTable.budgetSpent,
    samples: () => readBudgets(options, ({ spent, max }) => divide(spent, max)),
  })
  meters.read({
    ...seriesTable.budgetRemaining,
    // A difference of amounts is an amount.
    samples: () => readBudgets(options, ({ spent, max }) => toUsd((max - spent) as NanoUsd)),
  })
}

interface BudgetTotal {
  readonly labels: { readonly scope: BudgetScope; readonly name: string }
  spent: bigint
  max: bigint
}

/** The name that all budgets past the maximum share. */
const rest = 'other'

function readBudgets(
  { budgets, maxSeries }: BudgetSeriesOptions,
  toValue: (total: BudgetTotal) => number,
): Sample[] {
  const totals = new Map<string, BudgetTotal>()
  let own = 0
  for (const { scope, record, spent } of budgets()) {
    const { budgetMax: max, deletedAt } = record
    if (max === null || deletedAt !== null) continue
    const isOwn = own++ < maxSeries
    const name = isOwn ? findFreeName({ scope, record }, totals) : rest
    const total = totals.get(seriesKey(scope, name))
    if (total) {
      total.spent += spent
      total.max += max
    } else totals.set(seriesKey(scope, name), { labels: { scope, name }, spent, max })
  }
  return Array.from(totals.values(), (total) => ({ labels: total.labels, value: toValue(total) }))
}

/** Names need not be unique, but two equal series would make the whole scrape invalid. */
function findFreeName(
  { scope, record: { id, name } }: Pick<BudgetReading, 'scope' | 'record'>,
  totals: ReadonlyMap<string, unknown>,
): string {
  const plain = toLabelValue(name)
  const isTaken = plain === rest || totals.has(seriesKey(scope, plain))
  return isTaken ? `${plain} (${id})` : plain
}

function seriesKey(scope: BudgetScope, name: string): string {
  return `${scope} ${name}`
}

/** A budget of 0 counts as spent. */
function divide(spent: bigint, max: bigint): number {
  return max === 0n ? 1 : Number(spent) / Number(max)
}
