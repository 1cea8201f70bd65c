import type { Account } from '../core/accounts.ts'
import type { Clock } from '../core/ports.ts'
import type { RecordSink, RequestRecord } from '../core/request-record.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import type { ChargedRow } from '../store/index.ts'
import type { UsageLog } from './usage-log.ts'

/** Returns a sink that adds a usage row for every request with an account. */
export function usageLogSink(log: Pick<UsageLog, 'add'>, clock: Clock): RecordSink {
  return (record) => {
    const { account, model } = record
    if (!account || !model) return
    log.add(toUsageRow(record, { account, model, ts: unixSeconds(clock) }))
  }
}

interface RowContext {
  readonly account: Account
  /** The model or the route that the client asked for. */
  readonly model: NonNullable<RequestRecord['model']>
  /** When the request ended, unix seconds. */
  readonly ts: number
}

function toUsageRow(record: RequestRecord, { account, model, ts }: RowContext): ChargedRow {
  const { served, usage, media, timeToFirstToken } = record
  return {
    ts,
    requestId: record.requestId,
    keyId: account.keyId,
    groupId: account.groupId,
    model: model.id,
    modelUsed: served?.id ?? null,
    // A route has no provider of its own, so a failed request names the provider that was called last.
    provider: (served ?? model).provider?.name ?? record.lastCalled?.provider.name ?? '',
    capability: record.capability,
    api: record.api,
    stream: record.stream,
    tokensIn: clampCount(usage?.promptTokens),
    tokensOut: clampCount(usage?.completionTokens),
    tokensTotal: clampCount(usage?.totalTokens),
    estimated: usage?.estimated ?? false,
    cachedTokens: clampCount(usage?.cachedTokens),
    cacheWriteTokens: clampCount(usage?.cacheWriteTokens),
    reasoningTokens: clampCount(usage?.reasoningTokens),
    searchUnits: clampCount(record.searchUnits),
    mediaCount: media?.count ?? 0,
    mediaBytes: media?.bytes ?? 0,
    cost: record.cost,
    latencyMs: Math.round(record.latency),
    ttftMs: timeToFirstToken === undefined ? null : Math.round(timeToFirstToken),
    attempts: record.attempts,
    cacheHit: record.cacheHit,
    status: record.status,
    errorCode: record.errorCode ?? null,
    metadata: record.metadata,
    keyTerm: record.keyTerm,
    groupTerm: record.groupTerm,
  }
}

/** Clamps a count: the sum over several upstream calls can exceed what a column holds. */
function clampCount(count = 0): number {
  return Math.min(count, Number.MAX_SAFE_INTEGER)
}
