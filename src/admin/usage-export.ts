import { toUsd } from '../core/money.ts'
import type { Clock } from '../core/ports.ts'
import { jsonBytes, type Reply } from '../core/reply.ts'
import type { Store, UsageRow } from '../store/index.ts'
import { CancelScope } from '../wire/cancel-scope.ts'
import { TimeSlice } from '../wire/time-slice.ts'
import type { AdminRequest } from './input.ts'
import { parseExportQuery } from './usage-query.ts'

interface ExportDeps {
  readonly store: Pick<Store, 'listUsage'>
  readonly clock: Clock
}

/** One page of the rows of a window, by increasing id. */
export async function exportUsage(
  { request }: AdminRequest,
  { store, clock }: ExportDeps,
): Promise<Reply> {
  const query = parseExportQuery(new URL(request.url).searchParams, clock.now())
  const rows = await store.listUsage(query)
  // Only a page that is not full shows that the window has nothing more.
  const next = rows.length < query.limit ? null : rows.at(-1)?.id
  const pace = new TimeSlice(clock, new CancelScope(clock))
  const pieces = [
    encoder.encode(`{"since":${query.since},"until":${query.until},"rows":[`),
    ...(await renderRows(rows, pace)),
    encoder.encode(`],"next_cursor":${next}}`),
  ]
  return jsonBytes(await joinPieces(pieces, pace))
}

/** Rows that are written in one go: a page of them would hold up every stream that is running. */
const portion = 250

async function renderRows(rows: readonly UsageRow[], pace: TimeSlice): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = []
  for (let at = 0; at < rows.length; at += portion) {
    const texts = rows.slice(at, at + portion).map((row) => JSON.stringify(renderRow(row)))
    pieces.push(encoder.encode((at > 0 ? ',' : '') + texts.join(',')))
    await pace.pause()
  }
  return pieces
}

const encoder = new TextEncoder()

function renderRow(row: UsageRow): object {
  return {
    id: row.id,
    ts: row.ts,
    request_id: row.requestId,
    key_id: row.keyId,
    group_id: row.groupId,
    model: row.model,
    model_used: row.modelUsed,
    provider: row.provider,
    capability: row.capability,
    stream: row.stream,
    tokens_in: row.tokensIn,
    tokens_out: row.tokensOut,
    tokens_total: row.tokensTotal,
    estimated: row.estimated,
    cached_tokens: row.cachedTokens,
    cache_write_tokens: row.cacheWriteTokens,
    reasoning_tokens: row.reasoningTokens,
    search_units: row.searchUnits,
    media_count: row.mediaCount,
    media_bytes: row.mediaBytes,
    cost: toUsd(row.cost),
    latency_ms: row.latencyMs,
    ttft_ms: row.ttftMs,
    attempts: row.attempts,
    status: row.status,
    error_code: row.errorCode,
    metadata: row.metadata,
  }
}

async function joinPieces(pieces: readonly Uint8Array[], pace: TimeSlice): Promise<Uint8Array> {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
    await pace.pause()
  }
  return whole
}
