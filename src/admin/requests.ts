import * as z from 'zod'
import { toUsd } from '../core/money.ts'
import { jsonReply, type Reply } from '../core/reply.ts'
import type { RecentRequest, RecentRequests } from '../records/index.ts'
import type { AdminRequest, AdminRoutes } from './input.ts'
import { parseQuery, wholeNumber } from './usage-query.ts'

export interface RequestRouteDeps {
  readonly recent: Pick<RecentRequests, 'listAfter'>
  /** Passes on the records that still wait in a batch. */
  readonly flushRecords: () => void
}

/** The read-only route of the last requests, which are in memory. */
export function requestRoutes(deps: RequestRouteDeps): AdminRoutes {
  return { '/admin/requests': { GET: (matched) => listRequests(matched, deps) } }
}

const requestQuery = z.strictObject({
  cursor: wholeNumber(0, Number.MAX_SAFE_INTEGER).default(0),
  limit: wholeNumber(1, 500).default(100),
})

function listRequests(
  { request }: AdminRequest,
  { recent, flushRecords }: RequestRouteDeps,
): Reply {
  const { cursor, limit } = parseQuery(requestQuery, new URL(request.url).searchParams)
  flushRecords()
  const rows = recent.listAfter(cursor, limit)
  return jsonReply({ rows: rows.map(renderRow), next_cursor: rows.at(-1)?.sequence ?? cursor })
}

function renderRow({ sequence, endedAt, record }: RecentRequest): object {
  const { served, usage } = record
  return {
    id: sequence,
    ts: endedAt,
    request_id: record.requestId,
    key_id: record.keyId ?? null,
    group_id: record.account?.groupId ?? null,
    api: record.api,
    stream: record.stream,
    model: record.model?.id ?? null,
    model_used: served?.id ?? null,
    provider: (served ?? record.lastCalled ?? record.model)?.provider?.name ?? null,
    status: record.status,
    error_code: record.errorCode ?? null,
    latency_ms: Math.round(record.latency),
    ttft_ms: roundOrNull(record.timeToFirstToken),
    tokens_in: usage?.promptTokens ?? null,
    tokens_out: usage?.completionTokens ?? null,
    estimated: usage?.estimated ?? false,
    cost: toUsd(record.cost),
    cache_hit: record.cacheHit,
    attempts: record.attempts,
    failed: record.failed ?? [],
  }
}

function roundOrNull(value: number | undefined): number | null {
  return value === undefined ? null : Math.round(value)
}
