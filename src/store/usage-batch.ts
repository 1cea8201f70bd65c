import type { NanoUsd } from '../core/ids.ts'
import { SpendSums } from './spend-text.ts'
import type { UsageBatch, UsageText } from './store.ts'
import {
  type ChargedRow,
  type NewUsageRow,
  type UsageColumn,
  type UsageRow,
  type UsageValue,
  usageColumns,
  usageFields,
} from './usage-columns.ts'

/*
 * Between the gateway and the database a row of the usage log is a JSON array, which SQL puts
 * together and takes apart. One bound text for all rows is the fastest way in, and a result of one
 * column the fastest way out: the driver spends microseconds on every single value.
 */

/** A batch under construction. A column whose value is the same in every row is stored once. */
export class UsageBatchBuilder implements UsageBatch {
  readonly id: string
  #length = 0
  /** The first row, by column. */
  readonly #first: UsageValue[] = []
  /** By column: the values of all rows, where they differ. */
  readonly #varying: (UsageValue[] | undefined)[] = usageColumns.map(() => undefined)
  readonly #spend = new SpendSums()

  constructor(id: string) {
    this.id = id
  }

  get length(): number {
    return this.#length
  }

  /** The sum of what the rows cost. */
  get cost(): NanoUsd {
    return this.#spend.total('key')
  }

  add(row: ChargedRow): void {
    this.#spend.addRow(row)
    // Runs for every accounted request: one pass over the columns, without an array for the row.
    const length = this.#length
    const first = this.#first
    const varying = this.#varying
    for (let at = 0; at < usageColumns.length; at++) {
      const { field, write } = usageColumns[at] as UsageColumn
      // Without `write` the field itself is a column value.
      const value = write === undefined ? (row[field] as UsageValue) : write(row[field])
      if (length === 0) {
        first.push(value)
        continue
      }
      const column = varying[at]
      if (column !== undefined) column.push(value)
      else if (value !== first[at]) varying[at] = [...this.#repeatFirst(at), value]
    }
    this.#length++
  }

  rows(): NewUsageRow[] {
    const columns = this.#first.map((_, at) => this.#varying[at] ?? this.#repeatFirst(at))
    return this.#mapRows((row) => {
      const { id: _, ...added } = toUsageRow([0, ...columns.map((column) => column[row])])
      return added
    })
  }

  text(): UsageText {
    const varying = [...this.#varying.keys()].filter((at) => this.#varying[at])
    const rows = this.#mapRows((row) => varying.map((at) => this.#varying[at]?.[row]))
    return {
      id: this.id,
      first: this.#first,
      varying,
      rows: JSON.stringify(rows),
      spend: this.#spend.text(),
    }
  }

  #mapRows<Result>(map: (row: number) => Result): Result[] {
    return Array.from({ length: this.#length }, (_, row) => map(row))
  }

  /** Returns a column in which every row so far has the value of the first. */
  #repeatFirst(at: number): UsageValue[] {
    return Array<UsageValue>(this.#length).fill(this.#first[at] as UsageValue)
  }
}

/** Parses rows as the database returns them: an array of arrays, each with the id in front. */
export function parseUsageRows(text: string): UsageRow[] {
  return (JSON.parse(text) as (readonly unknown[])[]).map(toUsageRow)
}

function toUsageRow(values: readonly unknown[]): UsageRow {
  // A copy of a complete object: adding the properties one by one takes three times as long.
  const row: Record<string, unknown> = { ...blankRow, id: values[0] }
  for (const { field, at, read } of usageFields) {
    row[field] = read ? read(values, at + 1) : values[at + 1]
  }
  // Every field is set, from a row that was written by the same columns.
  return row as unknown as UsageRow
}

const blankRow = Object.fromEntries(
  ['id', ...usageFields.map(({ field }) => field)].map((name) => [name, null]),
)
