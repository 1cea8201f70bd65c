import type { Account } from '../core/accounts.ts'
import type { Clock } from '../core/ports.ts'
import type { Model } from '../core/provider.ts'
import type { RecordSink, RequestRecord } from '../core/request-record.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import type { NewUsageRow } from '../store/index.ts'
import type { UsageLog } from './usage-log.ts'

/** Writes a row for every request that somebody is accountable for. */
export function usageLogSink(log: Pick<UsageLog, 'add'>, clock: Clock): RecordSink {
  return (settlement) => {
    const { account, model } = settlement
    if (!account || !model) return
    log.add(usageRow(settlement, { account, model, ts: unixSeconds(clock) }))
  }
}

interface RowContext {
  readonly account: Account
  /** As asked for. */
  readonly model: Model
  /** When the request ended, unix seconds. */
  readonly ts: number
}

function usageRow(settlement: RequestRecord, { account, model, ts }: RowContext): NewUsageRow {
  const { served, usage, media, timeToFirstToken } = settlement
  return {
    ts,
    requestId: settlement.requestId,
    keyId: account.keyId,
    groupId: account.groupId,
    model: model.id,
    modelUsed: served?.id ?? null,
    provider: (served ?? model).provider.name,
    capability: settlement.capability,
    stream: settlement.stream,
    tokensIn: countOf(usage?.promptTokens),
    tokensOut: countOf(usage?.completionTokens),
    tokensTotal: countOf(usage?.totalTokens),
    estimated: usage?.estimated ?? false,
    cachedTokens: countOf(usage?.cachedTokens),
    cacheWriteTokens: countOf(usage?.cacheWriteTokens),
    reasoningTokens: countOf(usage?.reasoningTokens),
    searchUnits: countOf(settlement.searchUnits),
    mediaCount: media?.count ?? 0,
    mediaBytes: media?.bytes ?? 0,
    cost: settlement.cost,
    latencyMs: Math.round(settlement.latency),
    ttftMs: timeToFirstToken === undefined ? null : Math.round(timeToFirstToken),
    attempts: settlement.attempts,
    status: settlement.status,
    errorCode: settlement.errorCode ?? null,
    metadata: settlement.metadata,
  }
}

/** The sum of what several upstream calls claim may be more than the database can take. */
function countOf(count = 0): number {
  return Math.min(count, Number.MAX_SAFE_INTEGER)
}
