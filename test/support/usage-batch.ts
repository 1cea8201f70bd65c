import { type NewUsageRow, type UsageBatch, UsageBatchBuilder } from '../../src/store/index.ts'

/** A batch of these rows. */
export function usageBatch(id: string, rows: readonly NewUsageRow[]): UsageBatch {
  const table = new UsageBatchBuilder(id)
  for (const row of rows) table.add(row)
  return table
}
