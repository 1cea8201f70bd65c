import { type NewUsageRow, type UsageBatch, UsageTable } from '../../src/store/index.ts'

/** These rows, to be written together. */
export function usageBatch(id: string, rows: readonly NewUsageRow[]): UsageBatch {
  const table = new UsageTable(id)
  for (const row of rows) table.add(row)
  return table
}
