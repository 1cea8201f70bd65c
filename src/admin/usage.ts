import { toUsd } from '../core/money.ts'
import type { Clock } from '../core/ports.ts'
import { jsonReply, type Reply } from '../core/reply.ts'
import type { Store, UsageSum } from '../store/index.ts'
import type { AdminRequest, AdminRoutes } from './input.ts'
import { exportUsage } from './usage-export.ts'
import { parseUsageQuery } from './usage-query.ts'

export interface UsageRouteDeps {
  readonly store: Pick<Store, 'sumUsage' | 'listUsage'>
  readonly clock: Clock
}

/** The read-only routes of the usage log. */
export function usageRoutes(deps: UsageRouteDeps): AdminRoutes {
  return {
    '/admin/usage': { GET: (matched) => sumUsage(matched, deps) },
    '/admin/usage/export': { GET: (matched) => exportUsage(matched, deps) },
  }
}

async function sumUsage(
  { request }: AdminRequest,
  { store, clock }: UsageRouteDeps,
): Promise<Reply> {
  const query = parseUsageQuery(new URL(request.url).searchParams, clock.now())
  const { since, until, groupBy, limit } = query
  // One more than the limit shows whether the result is truncated.
  const sums = await store.sumUsage({ ...query, limit: limit + 1 })
  return jsonReply({
    since,
    until,
    group_by: groupBy,
    truncated: sums.length > limit,
    groups: sums.slice(0, limit).map(renderSum),
  })
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
    estimated_requests: sum.estimatedRequests,
    upstream_requests: sum.upstreamRequests,
    search_units: sum.searchUnits,
    media_count: sum.mediaCount,
    media_bytes: sum.mediaBytes,
    cost: toUsd(sum.cost),
  }
}
