import { type NewUsageRow, type UsageBatch, UsageTable, usageRows } from '../../src/store/index.ts'

/** These rows, to be written together. */
export function usageBatch(id: string, rows: readonly NewUsageRow[]): UsageBatch {
  const table = new UsageTable()
  for (const row of rows) table.add(row)
  return table.batch(id)
}

/** The rows of a batch, as a database shows them afterwards. */
export function rowsOf({ first, varying, rows }: UsageBatch): NewUsageRow[] {
  // What the columns hold in which the rows differ.
  const rests = JSON.parse(rows) as unknown[][]
  const tuples = rests.map((rest) => {
    const values: unknown[] = [...first]
    for (const [place, at] of varying.entries()) values[at] = rest[place]
    const metadata = values.pop()
    const plain = values.map((value) => (typeof value === 'boolean' ? Number(value) : value))
    return [0, ...plain, typeof metadata === 'string' ? JSON.parse(metadata) : null]
  })
  return usageRows(JSON.stringify(tuples)).map((stored) => {
    const { id: _, ...row } = stored
    return row
  })
}
