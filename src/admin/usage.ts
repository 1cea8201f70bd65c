import { invalid } from '../core/errors.ts'
import { toUsd } from '../core/money.ts'
import type { Clock } from '../core/ports.ts'
import { jsonReply, type Reply } from '../core/reply.ts'
import type { Store, UsageIntervalSum, UsageSum } from '../store/index.ts'
import type { AdminRequest, AdminRoutes } from './input.ts'
import { explainCost } from './usage-cost.ts'
import { exportUsage } from './usage-export.ts'
import { sumCostParts } from './usage-parts.ts'
import { parseUsageQuery, type UsageQuery } from './usage-query.ts'

export interface UsageRouteDeps {
  readonly store: Pick<Store, 'sumUsage' | 'sumUsageByInterval' | 'listUsage' | 'readPrices'>
  readonly clock: Clock
}

/** The read-only routes of the usage log. */
export function usageRoutes(deps: UsageRouteDeps): AdminRoutes {
  return {
    '/admin/usage': { GET: (matched) => sumUsage(matched, deps) },
    '/admin/usage/export': { GET: (matched) => exportUsage(matched, deps) },
    '/admin/usage/parts': { GET: (matched) => sumCostParts(matched, deps) },
    '/admin/usage/rows/:request_id': { GET: (matched) => explainCost(matched, deps) },
  }
}

function sumUsage({ request }: AdminRequest, deps: UsageRouteDeps): Promise<Reply> {
  const query = parseUsageQuery(new URL(request.url).searchParams, deps.clock.now())
  return replyWithSums(query, deps)
}

/** Replies with the sums that a query asks for. */
export async function replyWithSums(
  query: UsageQuery,
  { store }: { readonly store: Pick<Store, 'sumUsage' | 'sumUsageByInterval'> },
): Promise<Reply> {
  const { since, until, groupBy, interval, limit } = query
  // One more than the limit shows whether the result is truncated.
  const sums = await store.sumUsage({ ...query, limit: limit + 1 })
  const shown = sums.slice(0, limit)
  const intervals = await readIntervals(query, shown, store)
  return jsonReply({
    since,
    until,
    group_by: groupBy,
    interval,
    truncated: sums.length > limit,
    groups: shown.map((sum) => ({ ...renderSum(sum), intervals: intervals?.get(sum.group) })),
  })
}

/** More would make an answer of several megabytes. */
const maxIntervals = 50_000

/** Returns the intervals of each group as JSON; undefined when none are wanted. */
async function readIntervals(
  { interval, ...query }: UsageQuery,
  sums: readonly UsageSum[],
  store: Pick<Store, 'sumUsageByInterval'>,
): Promise<ReadonlyMap<string, object[]> | undefined> {
  if (!interval) return undefined
  const groups = sums.map(({ group }) => group)
  const parts = await store.sumUsageByInterval({
    ...query,
    interval,
    groups,
    limit: maxIntervals + 1,
  })
  if (parts.length > maxIntervals) {
    const message = `interval: the answer would have more than ${maxIntervals}; take a longer one, or a smaller limit`
    throw invalid(message, 'interval')
  }
  const rendered = new Map(groups.map((group) => [group, [] as object[]]))
  for (const part of parts) rendered.get(part.group)?.push(renderInterval(part))
  return rendered
}

function renderInterval(part: UsageIntervalSum): object {
  return {
    start: part.start,
    requests: part.requests,
    tokens_in: part.tokensIn,
    tokens_out: part.tokensOut,
    cached_tokens: part.cachedTokens,
    cost: toUsd(part.cost),
  }
}

/** Four decimals. */
function round(share: number): number {
  return Math.round(share * 10_000) / 10_000
}

function renderSum(sum: UsageSum): object {
  return {
    group: sum.group,
    requests: sum.requests,
    requests_ok: sum.requestsOk,
    requests_client_error: sum.requestsClientError,
    requests_server_error: sum.requestsServerError,
    tokens_in: sum.tokensIn,
    tokens_out: sum.tokensOut,
    tokens_total: sum.tokensTotal,
    cached_tokens: sum.cachedTokens,
    cached_share: sum.tokensIn > 0 ? round(sum.cachedTokens / sum.tokensIn) : null,
    estimated_requests: sum.estimatedRequests,
    upstream_requests: sum.upstreamRequests,
    search_units: sum.searchUnits,
    media_count: sum.mediaCount,
    media_bytes: sum.mediaBytes,
    cost: toUsd(sum.cost),
    last_at: sum.lastAt,
  }
}
