import * as z from 'zod'
import { toUsd } from '../core/money.ts'
import { jsonReply, type Reply } from '../core/reply.ts'
import type { Topic, Workers } from '../core/workers.ts'
import type { RecentRequest, RecentRequests } from '../records/index.ts'
import type { AdminRequest, AdminRoutes } from './input.ts'
import { parseQuery, wholeNumber } from './usage-query.ts'

export interface RequestRouteDeps {
  readonly recent: Pick<RecentRequests, 'listAfter'>
  /** Passes on the records that still wait in a batch. */
  readonly flushRecords: () => void
  readonly workers: Workers
}

interface Page {
  readonly cursor: number
  readonly limit: number
}

type Row = ReturnType<typeof renderRow>

const requestsTopic: Topic<Page, readonly Row[]> = { name: 'requests' }

/** The read-only route of the last requests, which are in memory. */
export function requestRoutes({ recent, flushRecords, workers }: RequestRouteDeps): AdminRoutes {
  workers.answer(requestsTopic, ({ cursor, limit }) => {
    flushRecords()
    return recent.listAfter(cursor, limit).map(renderRow)
  })
  return { '/admin/requests': { GET: (matched) => listRequests(matched, workers) } }
}

const requestQuery = z.strictObject({
  cursor: wholeNumber(0, Number.MAX_SAFE_INTEGER).default(0),
  limit: wholeNumber(1, 500).default(100),
})

async function listRequests({ request }: AdminRequest, workers: Workers): Promise<Reply> {
  const page = parseQuery(requestQuery, new URL(request.url).searchParams)
  // A later one that only some workers have seen would move the cursor past those of the others.
  const last = workers.sequence.settled()
  const pages = await workers.ask(requestsTopic, page)
  const rows = pages
    .flat()
    .filter(({ id }) => id <= last)
    .sort((a, b) => a.id - b.id)
    .slice(0, page.limit)
  return jsonReply({ rows, next_cursor: rows.at(-1)?.id ?? page.cursor })
}

function renderRow({ sequence, endedAt, record }: RecentRequest) {
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
