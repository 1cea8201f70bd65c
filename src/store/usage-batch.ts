import type { NanoUsd } from '../core/ids.ts'
import { chargeMembers, type JournalRow, writeFullLine } from './journal-line.ts'
import { SpendSums } from './spend-text.ts'
import {
  type ChargedRow,
  type NewUsageRow,
  readFields,
  type UsageColumn,
  type UsageValue,
  usageColumns,
} from './usage-columns.ts'
import type { UsageBatch, UsageRequest, UsageText } from './usage-queries.ts'
import { toUsageRow } from './usage-values.ts'

/*
 * Between the gateway and the database a row of the usage log is a JSON array, which SQL puts
 * together and takes apart. One bound text for all rows is the fastest way in, and a result of one
 * column the fastest way out: the driver spends microseconds on every single value.
 */

/** What a line of the journal says besides the columns. */
type Charge = Pick<JournalRow, (typeof chargeMembers)[number]>

/**
 * A batch under construction. A column whose value is the same in every row is stored once. `process`: that
 * with a shared state which has charged the rows.
 */
export class UsageBatchBuilder implements UsageBatch {
  readonly id: string
  readonly #process: string | undefined
  #length = 0
  /** The fields of the first row, and its values by column. */
  #firstFields: readonly unknown[] = []
  readonly #first: UsageValue[] = []
  /** By column: the values of all rows, where they differ. */
  readonly #varying: (UsageValue[] | undefined)[] = usageColumns.map(() => undefined)
  readonly #spend = new SpendSums()
  /** The prices that the rows name, by their ids. */
  readonly #prices = new Map<string, string>()
  #lastVectors: ChargedRow['vectors']
  #firstCharge: Charge | undefined
  #lastCharge: Charge | undefined
  /** Those of a process with a shared state, which may find that it was charged for them. */
  readonly #rows: JournalRow[] = []
  /** Where the last row differs from the first, as a line of the journal has it. */
  #differences: unknown[] = []

  constructor(id: string, process?: string) {
    this.id = id
    this.#process = process
  }

  get length(): number {
    return this.#length
  }

  /** The sum of what the rows cost. */
  get cost(): NanoUsd {
    return this.#spend.total('key')
  }

  add(row: JournalRow): void {
    this.#spend.addRow(row)
    if (row.vectors !== this.#lastVectors) this.#notePrices(row.vectors)
    // Runs for every accounted request: one pass over the columns.
    const length = this.#length
    const fields = readFields(row)
    const first = this.#first
    const firstFields = this.#firstFields
    const varying = this.#varying
    const differences: unknown[] = []
    for (let at = 0; at < usageColumns.length; at++) {
      const { place, write } = usageColumns[at] as UsageColumn
      const field = fields[place]
      const column = varying[at]
      // Most columns of most rows: nothing is written and compared.
      if (column === undefined && field === firstFields[place] && length > 0) continue
      // Without `write` the field itself is a column value.
      const value = write === undefined ? (field as UsageValue) : write(field)
      if (length === 0) {
        first.push(value)
        continue
      }
      const differs = value !== first[at]
      if (differs) differences.push(at, value)
      if (column !== undefined) column.push(value)
      else if (differs) varying[at] = [...this.#repeatFirst(at), value]
    }
    if (length === 0) this.#firstFields = fields
    this.#length++
    this.#firstCharge ??= row
    this.#lastCharge = row
    if (this.#process !== undefined) this.#rows.push(row)
    this.#differences = differences
  }

  #notePrices(vectors: ChargedRow['vectors']): void {
    this.#lastVectors = vectors
    if (vectors === undefined) return
    const all = 'id' in vectors ? [vectors] : vectors.flat().map(({ prices }) => prices)
    for (const { id, text } of all) this.#prices.set(id, text)
  }

  /** Returns the row of a request; undefined for a batch without a process. */
  find({ requestId, keyId }: UsageRequest): JournalRow | undefined {
    return this.#rows.find((row) => row.requestId === requestId && row.keyId === keyId)
  }

  /** Returns the last row as a line of the journal that needs no other line. */
  fullLine(): string {
    const last = this.#length - 1
    const columns = this.#first.map((value, at) => {
      const column = this.#varying[at]
      return column ? column[last] : value
    })
    const charge = chargeMembers.map((name) => this.#lastCharge?.[name])
    return writeFullLine([...columns, ...charge, this.#process])
  }

  /** Returns the last row as a line of the journal that follows the full line of the first row. */
  nextLine(): string {
    const differences = this.#differences
    for (let at = 0; at < chargeMembers.length; at++) {
      const name = chargeMembers[at] as keyof Charge
      const value = this.#lastCharge?.[name]
      if (value !== this.#firstCharge?.[name]) {
        differences.push(usageColumns.length + at, value ?? null)
      }
    }
    return JSON.stringify(differences)
  }

  rows(): NewUsageRow[] {
    const columns = this.#first.map((_, at) => this.#varying[at] ?? this.#repeatFirst(at))
    return this.#mapRows((row) => {
      const { id: _, ...added } = toUsageRow([0, ...columns.map((column) => column[row])])
      return added
    })
  }

  prices(): ReadonlyMap<string, string> {
    return this.#prices
  }

  text(): UsageText {
    const varying = [...this.#varying.keys()].filter((at) => this.#varying[at])
    const rows = this.#mapRows((row) => varying.map((at) => this.#varying[at]?.[row]))
    return {
      id: this.id,
      process: this.#process,
      first: this.#first,
      varying,
      rows: JSON.stringify(rows),
      spend: this.#spend.text(),
      prices: JSON.stringify([...this.#prices]),
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
