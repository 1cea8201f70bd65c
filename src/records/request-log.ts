import type { Clock, Log } from '../core/ports.ts'
import type { RecordSink, RequestRecord } from '../core/request-record.ts'
import { LineLimit } from './line-limit.ts'

export interface RequestLogOptions {
  readonly log: Log
  readonly clock: Clock
}

/**
 * One line a finished request: ids, counts and codes, never content, keys or headers. Requests
 * without a valid key, which anyone can send, have one line a second.
 */
export function requestLogSink({ log, clock }: RequestLogOptions): RecordSink {
  const strangers = new LineLimit({
    clock,
    perSecond: 1,
    write: (fields) => log.write('info', 'request', fields),
  })
  return (settlement) => {
    if (settlement.errorCode === 'LM-4004') return strangers.add(() => toFields(settlement))
    const level = settlement.status >= 500 ? 'warn' : 'info'
    if (log.enabled(level)) log.write(level, 'request', toFields(settlement))
  }
}

function toFields(settlement: RequestRecord): Readonly<Record<string, unknown>> {
  const { usage, served, media, metadata } = settlement
  return {
    request_id: settlement.requestId,
    key_id: settlement.keyId,
    capability: settlement.capability,
    model: settlement.model?.id,
    model_used: served?.id,
    provider: (served ?? settlement.lastCalled ?? settlement.model)?.provider.name,
    status: settlement.status,
    error_code: settlement.errorCode,
    stream: settlement.stream,
    latency_ms: Math.round(settlement.latency),
    ttft_ms: roundOptional(settlement.timeToFirstToken),
    attempts: settlement.attempts,
    failed: settlement.failed,
    tokens_in: usage?.promptTokens,
    tokens_out: usage?.completionTokens,
    estimated: usage?.estimated,
    search_units: settlement.searchUnits,
    media_count: media?.count || undefined,
    media_bytes: media?.bytes || undefined,
    metadata: Object.keys(metadata).length > 0 ? metadata : undefined,
  }
}

function roundOptional(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value)
}
