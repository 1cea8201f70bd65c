import * as z from 'zod'
import { invalid } from '../core/errors.ts'
import { toUsd } from '../core/money.ts'
import type { Clock } from '../core/ports.ts'
import { jsonReply, type Reply } from '../core/reply.ts'
import type { Topic, Workers } from '../core/workers.ts'
import type { RequestListQuery, RequestPosition, RequestRow, Store } from '../store/index.ts'
import type { AdminRequest, AdminRoutes } from './input.ts'
import { renderFailure } from './render.ts'
import { requestParameters, toRequestFilter } from './request-filter.ts'
import { bounds, parseQuery, queryNumber, resolveWindow } from './usage-query.ts'

export interface RequestRouteDeps {
  readonly store: Pick<Store, 'listRequests'>
  readonly clock: Clock
  readonly workers: Workers
  /** Writes the rows of this process that still wait. Resolves when that is done or has failed. */
  readonly save: () => Promise<void>
}

const saveTopic: Topic<undefined, void> = { name: 'save-requests' }

/** The read-only route of all requests: those of the usage log, and those that were refused before. */
export function requestRoutes(deps: RequestRouteDeps): AdminRoutes {
  deps.workers.answer(saveTopic, deps.save)
  return { '/admin/requests': { GET: (matched) => listRequests(matched, deps) } }
}

const position = z
  .string()
  .regex(/^\d{1,15}\.\d{1,15}$/, { error: 'must be a cursor of an earlier answer' })
  .transform((text): RequestPosition => {
    const [usage, refused] = text.split('.').map(Number)
    // The pattern has two numbers.
    return { usage: usage ?? 0, refused: refused ?? 0 }
  })

const requestQuery = z.strictObject({
  ...bounds,
  ...requestParameters,
  cursor: position.optional(),
  after: position.optional(),
  limit: queryNumber(1, 1000).default(100),
})

type Given = z.infer<typeof requestQuery>

async function listRequests({ request }: AdminRequest, deps: RequestRouteDeps): Promise<Reply> {
  const { store, clock, workers } = deps
  const given = parseQuery(requestQuery, new URL(request.url).searchParams)
  const { cursor, after, limit } = given
  if (cursor && after) throw invalid('after: must not be given beside cursor', 'after')
  const window = hasWindow(given) ? resolveWindow(given, clock.now()) : undefined
  const query: RequestListQuery = {
    ...toRequestFilter(given),
    // What ends while the page is read is on it: `after` leads past all that was written.
    window: window && { ...window, until: given.until ?? Number.MAX_SAFE_INTEGER },
    direction: after ? 'newer' : 'older',
    position: after ?? cursor,
    limit,
  }
  // A later page of older rows begins behind rows that are written.
  if (!cursor) await workers.ask(saveTopic, undefined)
  const { rows, end, newest, isLast } = await store.listRequests(query)
  return jsonReply({
    since: window?.since ?? null,
    until: window?.until ?? null,
    rows: rows.map(renderRow),
    next_cursor: after || isLast ? null : writePosition(end),
    after: writePosition(after ? end : newest),
  })
}

/**
 * Whether only a part of what is kept is read. Without a filter a page ends early, failed requests have an index, and a
 * request is looked for everywhere; other filters read every row of their window, so they have one by default.
 */
function hasWindow({ since, until, ...given }: Given): boolean {
  if ((since ?? until) !== undefined) return true
  if (given.after) return false
  return (given.key_id ?? given.group_id ?? given.model ?? given.provider) !== undefined
}

function writePosition({ usage, refused }: RequestPosition): string {
  return `${usage}.${refused}`
}

function renderRow(row: RequestRow) {
  // A row of the usage log names a provider even if none was called.
  const wasServed = row.modelUsed !== null || row.attempts > 0
  const hasUsage = wasServed && row.tokensIn + row.tokensOut > 0
  const { reason, failed } = renderFailure(row.failure)
  return {
    id: `${row.log === 'usage' ? 'u' : 'r'}${row.id}`,
    ts: row.ts,
    request_id: row.requestId,
    key_id: row.keyId,
    group_id: row.groupId,
    api: row.api,
    stream: row.stream,
    model: row.model,
    model_used: row.modelUsed,
    provider: wasServed ? row.provider : null,
    status: row.status,
    error_code: row.errorCode,
    reason,
    latency_ms: row.latencyMs,
    ttft_ms: row.ttftMs,
    queued_ms: row.queuedMs,
    tokens_in: hasUsage ? row.tokensIn : null,
    tokens_out: hasUsage ? row.tokensOut : null,
    estimated: row.estimated,
    cost: toUsd(row.cost),
    cache_hit: row.cacheHit,
    attempts: row.attempts,
    failed,
    count: row.count,
  }
}
