import * as z from 'zod'
import { readBill } from '../core/bill.ts'
import { collectFacts } from '../core/billing.ts'
import { invalid } from '../core/errors.ts'
import type { NanoUsd } from '../core/ids.ts'
import { toUsd } from '../core/money.ts'
import type { Model } from '../core/provider.ts'
import { jsonReply, type Reply } from '../core/reply.ts'
import type { Usage } from '../core/usage.ts'
import { priceAnswer } from '../pricing/index.ts'
import type { RepricedRow, Store, UsageRow } from '../store/index.ts'
import { CancelScope } from '../wire/cancel-scope.ts'
import { TimeSlice } from '../wire/time-slice.ts'
import { type AdminRequest, type AdminRouteDeps, type AdminRoutes, readJson } from './input.ts'
import { readTokenCounts } from './usage-counts.ts'
import { resolveWindow } from './usage-query.ts'

export interface RepriceRouteDeps extends AdminRouteDeps {
  readonly store: Pick<Store, 'listUsage' | 'writeRepriced'>
  /** Finds a model of the configuration in force. */
  readonly findModel: (id: string) => Model | undefined
}

/** The route that prices rows of the usage log again. It never changes what was charged. */
export function repriceRoutes(deps: RepriceRouteDeps): AdminRoutes {
  return { '/admin/usage/reprice': { POST: (matched) => reprice(matched, deps) } }
}

const timeRule = { error: 'must be unix seconds' }
const time = z.int(timeRule).min(0, timeRule).max(99_999_999_999, timeRule)
const limitRule = { error: 'must be a whole number from 1 to 10000' }
const cursorRule = { error: 'must be a whole number from 0' }

/** The body of `POST /admin/usage/reprice`. */
export const repriceBody = z.strictObject({
  since: time.optional(),
  until: time.optional(),
  model: z.string({ error: 'must be the id of a model' }).optional(),
  cursor: z.int(cursorRule).min(0, cursorRule).default(0),
  limit: z.int(limitRule).min(1, limitRule).max(10_000, limitRule).default(1000),
  write: z.boolean({ error: 'must be true or false' }).default(false),
})

/** Rows that are priced before other work gets its turn. */
const portion = 250

async function reprice(matched: AdminRequest, deps: RepriceRouteDeps): Promise<Reply> {
  const { store, clock, audit } = deps
  const findModel = remember(deps.findModel)
  const { model, cursor, limit, write, ...bounds } = await readJson(matched, repriceBody, deps)
  if (model !== undefined && !findModel(model)) throw invalid('model: no such model', 'model')
  const { since, until } = resolveWindow(bounds, clock.now())
  const rows = await store.listUsage({ since, until, cursor, limit })
  const slice = new TimeSlice(clock, new CancelScope(clock))
  const sums = new Map<string, Sum>()
  const repriced: RepricedRow[] = []
  for (const [at, row] of rows.entries()) {
    if (at % portion === portion - 1) await slice.pause()
    const used = row.modelUsed === null ? undefined : findModel(row.modelUsed)
    if (!used || (model !== undefined && used.id !== model) || isUncharged(row)) continue
    const { cost, isExact } = repriceRow(row, used)
    repriced.push({ id: row.id, cost })
    addTo(sums, row, { cost, isExact })
  }
  if (write && repriced.length > 0) {
    await store.writeRepriced(repriced)
    await audit.add(audit.describe({ action: 'usage.reprice', subjectId: null }, matched.context))
  }
  return jsonReply({
    since,
    until,
    groups: [...sums.values()].map(renderSum),
    next_cursor: rows.length < limit ? null : rows.at(-1)?.id,
  })
}

/** A page has few models. */
function remember(findModel: RepriceRouteDeps['findModel']): RepriceRouteDeps['findModel'] {
  const found = new Map<string, Model | undefined>()
  return (id) => {
    if (!found.has(id)) found.set(id, findModel(id))
    return found.get(id)
  }
}

/** A row of a refusal, of an answer from the cache, or of a request whose answer nothing is known of. */
function isUncharged({ cacheHit, costSource, tokensTotal, searchUnits }: UsageRow): boolean {
  return cacheHit || costSource === 'free' || (tokensTotal === 0 && searchUnits === 0)
}

/**
 * Prices the counts of a row by the prices in force when its request arrived. Inexact where a row has not all that
 * its price depends on: rows of former versions, and those of several answers or runs, which were priced apart.
 */
function repriceRow(row: UsageRow, link: Model): Repriced {
  const bill = readBill(row.bill)
  const { modalities, ...counts } = readTokenCounts(row, bill)
  const { web_search: webSearches, ...toolCalls } = row.toolCalls ?? {}
  const usage: Usage = {
    ...counts,
    totalTokens: row.tokensTotal,
    webSearches,
    billing: collectFacts({
      tier: row.tier ?? undefined,
      geo: row.geo ?? undefined,
      modalities,
      toolCalls,
      statedCost: row.costReported ?? undefined,
    }),
    estimated: row.estimated,
  }
  const sentAt = row.ts * 1000 - row.latencyMs
  const { searchUnits } = row
  const { cost } = priceAnswer(link, { usage, searchUnits, ask: undefined, sentAt })
  return { cost, isExact: row.cacheWriteLongTokens !== null && bill.answers === undefined }
}

interface Repriced {
  readonly cost: NanoUsd
  readonly isExact: boolean
}

/** The rows of one key and one model. */
interface Sum {
  readonly keyId: string
  readonly model: string
  requests: number
  inexact: number
  cost: bigint
  repriced: bigint
}

function addTo(sums: Map<string, Sum>, row: UsageRow, { cost, isExact }: Repriced): void {
  const { keyId, modelUsed: model } = row
  const key = `${keyId} ${model}`
  const blank = { keyId, model: model ?? '', requests: 0, inexact: 0, cost: 0n, repriced: 0n }
  const sum = sums.get(key) ?? blank
  sum.requests++
  if (!isExact) sum.inexact++
  sum.cost += row.cost
  sum.repriced += cost
  sums.set(key, sum)
}

function renderSum({ keyId, model, requests, inexact, cost, repriced }: Sum): object {
  return {
    key_id: keyId,
    model,
    requests,
    inexact,
    // Sums of nano-dollars.
    cost: toUsd(cost as NanoUsd),
    cost_repriced: toUsd(repriced as NanoUsd),
  }
}
