import * as z from 'zod'
import type { AdminClient } from '../admin/client.ts'
import { formatCount, formatDollars } from '../output/amounts.ts'
import type { Style } from '../output/style.ts'
import { renderTable } from '../output/table.ts'

const sumSchema = z.looseObject({
  key_id: z.string(),
  model: z.string(),
  requests: z.number(),
  inexact: z.number(),
  cost: z.number(),
  cost_repriced: z.number(),
})

type Sum = z.infer<typeof sumSchema>

const answerSchema = z.looseObject({
  groups: z.array(sumSchema),
  next_cursor: z.number().nullable(),
})

/** Which rows to price again. Times are unix seconds, both included. */
export interface Repricing {
  readonly since: number
  readonly until: number
  readonly model: string | undefined
  /** Keeps the new costs in the rows. */
  readonly write: boolean
}

/** Prices all rows of a window again, page by page. Resolves to the sums by key and model. */
export async function reprice(admin: AdminClient, repricing: Repricing): Promise<readonly Sum[]> {
  const sums = new Map<string, Sum>()
  for (let cursor: number | null = 0; cursor !== null; ) {
    const body = { ...repricing, cursor, limit: 10_000 }
    const page = answerSchema.parse(await admin.send('POST', '/admin/usage/reprice', body))
    for (const sum of page.groups) {
      const key = `${sum.key_id} ${sum.model}`
      const known = sums.get(key)
      sums.set(key, known ? add(known, sum) : sum)
    }
    cursor = page.next_cursor
  }
  return [...sums.values()].sort((a, b) => difference(b) - difference(a))
}

function add(one: Sum, other: Sum): Sum {
  return {
    ...one,
    requests: one.requests + other.requests,
    inexact: one.inexact + other.inexact,
    cost: one.cost + other.cost,
    cost_repriced: one.cost_repriced + other.cost_repriced,
  }
}

function difference(sum: Sum): number {
  return Math.abs(sum.cost_repriced - sum.cost)
}

interface RepricedView {
  readonly write: boolean
  readonly style: Style
  /** That of the table, as in `TableText`. */
  readonly width?: number | undefined
}

/** Renders sums as a table, the largest difference first. */
export function renderRepriced(
  sums: readonly Sum[],
  { write, style, width }: RepricedView,
): string {
  if (sums.length === 0) return 'no row of the window has a model of the configuration'
  const columns = ['KEY', 'MODEL', '>REQUESTS', '>COST', '>REPRICED', '>INEXACT']
  const rows = sums.map((sum) => [
    sum.key_id,
    sum.model,
    formatCount(sum.requests),
    formatDollars(sum.cost),
    style.bold(formatDollars(sum.cost_repriced)),
    formatCount(sum.inexact),
  ])
  const note = write
    ? 'written to cost_repriced; what was charged stays as it is'
    : 'nothing is written: --write keeps it in cost_repriced'
  return [renderTable({ columns, rows, width }, style), '', style.dim(note)].join('\n')
}
