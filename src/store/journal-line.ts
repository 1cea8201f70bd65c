import * as z from 'zod'
import { budgetPeriods } from '../core/budget-period.ts'
import { tryParseJson } from '../wire/json/parse.ts'
import { type ChargedRow, type UsageColumn, usageColumns } from './usage-columns.ts'
import { toUsageRow } from './usage-values.ts'

/** A row in the journal. */
export interface JournalRow extends ChargedRow {
  /** The id of the batch whose row this one replaces. */
  readonly replaces?: string | undefined
  /** The process that has charged the row, when several share their state. It is that of its batch. */
  readonly process?: string | undefined
}

/** What a line of the journal has after the columns. */
export const chargeMembers = ['keyTerm', 'groupTerm', 'replaces'] as const

const names: readonly string[] = [
  ...usageColumns.map(({ name }) => name),
  ...chargeMembers,
  'process',
]

/**
 * Returns a row as a line that needs no other line: its values by their names, because the process that
 * reads it may be of another version.
 */
export function writeFullLine(values: readonly unknown[]): string {
  return JSON.stringify(Object.fromEntries(names.map((name, at) => [name, values[at] ?? null])))
}

/** Reads the lines of one batch in their order. */
export class JournalLineReader {
  #full: readonly (readonly [string, unknown])[] = []

  /**
   * Reads a full line, or one with the differences from the full line before: an array of places, each
   * before its value. Returns undefined when the line is not a row.
   */
  read(line: string): JournalRow | undefined {
    const parsed = tryParseJson(line)
    if (Array.isArray(parsed)) return this.#readDifferences(parsed)
    const row = toRow(parsed)
    if (row) this.#full = Object.entries(parsed as object)
    return row
  }

  #readDifferences(differences: readonly unknown[]): JournalRow | undefined {
    const values: Record<string, unknown> = Object.fromEntries(this.#full)
    for (let at = 0; at < differences.length; at += 2) {
      const name = this.#full[Number(differences[at])]?.[0]
      if (name === undefined) return undefined
      values[name] = differences[at + 1]
    }
    return toRow(values)
  }
}

function toRow(value: unknown): JournalRow | undefined {
  const parsed = schema.safeParse(value)
  if (!parsed.success) return undefined
  const { charge, columns } = parsed.data
  const { id: _, ...row } = toUsageRow([0, ...columns])
  return { ...row, ...charge }
}

const optional = <Type extends z.ZodType>(type: Type) =>
  type.nullish().transform((value) => value ?? undefined)

const term = optional(
  z.object({
    period: z.enum(budgetPeriods).nullable(),
    since: z.number(),
    resetsAt: z.number().nullable(),
  }),
)

const charge = z.object({
  keyTerm: term,
  groupTerm: term,
  replaces: optional(z.string()),
  process: optional(z.string()),
})

const schema = z
  .object({
    ...Object.fromEntries(usageColumns.map((column) => [column.name, columnSchema(column)])),
    keyId: z.string(),
    // A refund is negative: its dollars are rounded down.
    costUsd: z.int(),
    costNano: z.int().min(0),
  })
  .and(charge)
  .transform((values: Record<string, unknown>) => ({
    columns: usageColumns.map(({ name }) => values[name]),
    charge: charge.parse(values),
  }))

/** A value that is absent or odd must not cost the charge: `blank` takes its place. */
function columnSchema({ blank }: UsageColumn): z.ZodType {
  if (blank === null) return z.union([z.string(), z.number()]).nullable().catch(null)
  return typeof blank === 'string' ? z.string().catch(blank) : z.int().catch(blank)
}
