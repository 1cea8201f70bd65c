import type { Clock } from '../core/ports.ts'
import { jsonReply, type Reply } from '../core/reply.ts'
import { type CostLine, listLines } from '../pricing/index.ts'
import type { Store } from '../store/index.ts'
import { CancelScope } from '../wire/cancel-scope.ts'
import { TimeSlice } from '../wire/time-slice.ts'
import type { AdminRequest } from './input.ts'
import { parseExportQuery } from './request-filter.ts'
import { readKnownPrices, toPricedAnswers } from './usage-cost.ts'

interface PartsDeps {
  readonly store: Pick<Store, 'listUsage' | 'readPrices'>
  readonly clock: Clock
}

/** Rows that are read before other work gets its turn. */
const portion = 250

/** Sums what the costs of a page of rows are made of. What a vendor reports, and rows without prices, have no parts. */
export async function sumCostParts(
  { request }: AdminRequest,
  { store, clock }: PartsDeps,
): Promise<Reply> {
  const query = parseExportQuery(new URL(request.url).searchParams, clock.now())
  const rows = await store.listUsage(query)
  const known = await readKnownPrices(rows, store)
  const slice = new TimeSlice(clock, new CancelScope(clock))
  const sums = new Map<CostLine['name'], Sum>()
  for (const [at, row] of rows.entries()) {
    if (at % portion === portion - 1) await slice.pause()
    if (row.costSource === 'reported' || row.costSource === 'free') continue
    for (const line of toPricedAnswers(row, known).flat().flatMap(listLines)) add(sums, line)
  }
  const { since, until, limit } = query
  return jsonReply({
    since,
    until,
    parts: [...sums].map(([name, { count, cost }]) => ({ name, count, cost: Number(cost) / 1e15 })),
    next_cursor: rows.length < limit ? null : (rows.at(-1)?.id ?? null),
  })
}

interface Sum {
  count: number
  /** In millionths of a nano-dollar. */
  cost: bigint
}

function add(sums: Map<CostLine['name'], Sum>, { name, count, cost }: CostLine): void {
  const sum = sums.get(name)
  if (!sum) {
    sums.set(name, { count, cost })
    return
  }
  sum.count += count
  sum.cost += cost
}
