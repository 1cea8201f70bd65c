import { type Bill, type BilledAnswer, readBill } from '../core/bill.ts'
import type { NanoUsd } from '../core/ids.ts'
import { toUsd } from '../core/money.ts'
import type { Clock } from '../core/ports.ts'
import type { Prices } from '../core/prices.ts'
import { jsonReply, type Reply } from '../core/reply.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import {
  type CostLine,
  listLines,
  type PricedPart,
  parsePrices,
  sumParts,
} from '../pricing/index.ts'
import type { Store, UsageRow } from '../store/index.ts'
import type { AdminRequest } from './input.ts'
import { readTokenCounts } from './usage-counts.ts'
import { renderRow } from './usage-export.ts'

interface CostDeps {
  readonly store: Pick<Store, 'listUsage' | 'readPrices'>
  readonly clock: Clock
}

/** More rows than a request has. */
const maxRows = 100

/** Shows what the cost of a request is made of. One without a row has none. */
export async function explainCost(
  { params }: AdminRequest,
  { store, clock }: CostDeps,
): Promise<Reply> {
  const requestId = params['request_id'] ?? ''
  const window = { since: 0, until: unixSeconds(clock), cursor: 0, limit: maxRows }
  const rows = await store.listUsage({ ...window, requestId })
  const known = await readKnownPrices(rows, store)
  return jsonReply({ rows: rows.map((row) => ({ ...renderRow(row), ...explainRow(row, known) })) })
}

/** Prices by their ids. */
export type KnownPrices = ReadonlyMap<string, Prices>

/** Reads the prices that rows name. */
export async function readKnownPrices(
  rows: readonly UsageRow[],
  store: Pick<Store, 'readPrices'>,
): Promise<KnownPrices> {
  const ids = new Set<string>()
  for (const row of rows) {
    for (const { prices } of listAnswers(row, readBill(row.bill)).flat()) ids.add(prices)
  }
  const texts = await store.readPrices([...ids])
  return new Map([...texts].map(([id, text]) => [id, parsePrices(text)]))
}

/** Returns the answers that a row is charged for, each with the parts whose prices are known. */
export function toPricedAnswers(row: UsageRow, known: KnownPrices): readonly PricedPart[][] {
  return listAnswers(row, readBill(row.bill)).map((parts) =>
    parts.flatMap((part): PricedPart[] => {
      const prices = known.get(part.prices)
      return prices ? [{ ...part, prices }] : []
    }),
  )
}

/** Returns the answers that a row is charged for; none for one without prices. */
function listAnswers(row: UsageRow, bill: Bill) {
  const { price, answers } = bill
  if (answers || price === undefined) return answers ?? []
  const tokens = readTokenCounts(row, bill)
  const fees = { toolCalls: row.toolCalls ?? {}, searchUnits: row.searchUnits, requests: 1 }
  const answer: BilledAnswer<string> = [{ prices: price, tokens, fees }]
  return [answer]
}

/** Calculates a row again, from its counts and the prices that it names. */
function explainRow(row: UsageRow, known: KnownPrices): object {
  const bill = readBill(row.bill)
  const answers = toPricedAnswers(row, known)
  const sum = answers.reduce((total, parts) => total + sumParts(parts), 0n) as NanoUsd
  return {
    lines: answers.flat().flatMap(listLines).map(renderLine),
    calculated: answers.length === 0 ? null : toUsd(sum),
    is_exact: answers.length > 0 && sum === (bill.calculated ?? row.cost),
  }
}

function renderLine({ name, count, price, per, cost }: CostLine): object {
  return { name, count, price: toUsd(price), per, cost: Number(cost) / 1e15 }
}
