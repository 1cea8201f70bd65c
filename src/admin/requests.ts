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

function renderRow(request: RecentRequest) {
  return {
    id: request.sequence,
    ts: request.endedAt,
    request_id: request.requestId,
    key_id: request.keyId,
    group_id: request.groupId,
    api: request.api,
    stream: request.stream,
    model: request.model,
    model_used: request.modelUsed,
    provider: request.provider,
    status: request.status,
    error_code: request.errorCode,
    reason: request.reason,
    latency_ms: request.latency,
    ttft_ms: request.timeToFirstToken,
    queued_ms: request.queued,
    tokens_in: request.tokensIn,
    tokens_out: request.tokensOut,
    estimated: request.estimated,
    cost: toUsd(request.cost),
    cache_hit: request.cacheHit,
    attempts: request.attempts,
    failed: request.failed,
  }
}
