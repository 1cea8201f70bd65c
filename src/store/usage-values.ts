import { type UsageRow, usageFields } from './usage-columns.ts'

/** Parses rows as the database returns them: an array of arrays, each with the id in front. */
export function parseUsageRows(text: string): UsageRow[] {
  return (JSON.parse(text) as (readonly unknown[])[]).map(toUsageRow)
}

/** Makes a row of its id and its columns. */
export function toUsageRow(values: readonly unknown[]): UsageRow {
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
