import type { Clock, Log } from '../core/ports.ts'
import type { RecordSink, RequestRecord } from '../core/request-record.ts'
import { LineLimit } from './line-limit.ts'

export interface RequestLogOptions {
  readonly log: Log
  readonly clock: Clock
}

/**
 * Logs one line for each finished request: ids, counts and codes, never content, keys or headers.
 * Requests without a valid key, which anyone can send, get at most one line a second.
 */
export function requestLogSink({ log, clock }: RequestLogOptions): RecordSink {
  const unauthenticated = new LineLimit({
    clock,
    perSecond: 1,
    write: (fields) => log.write('info', 'request', fields),
  })
  return (record) => {
    if (record.errorCode === 'LM-4004') return unauthenticated.add(() => toFields(record))
    const level = record.status >= 500 ? 'warn' : 'info'
    if (log.enabled(level)) log.write(level, 'request', toFields(record))
  }
}

function toFields(record: RequestRecord): Readonly<Record<string, unknown>> {
  const { usage, served, media, metadata, refusal } = record
  return {
    request_id: record.requestId,
    key_id: record.keyId,
    capability: record.capability,
    api: record.api,
    model: record.model?.id ?? refusal?.model,
    switched_to: record.switched?.at(-1)?.target,
    model_used: served?.id,
    provider: findProvider(record),
    status: record.status,
    error_code: record.errorCode,
    reason: refusal?.reason,
    scope: refusal?.scope,
    group_id: refusal?.groupId,
    stream: record.stream,
    latency_ms: Math.round(record.latency),
    ttft_ms: roundOptional(record.timeToFirstToken),
    queued_ms: roundOptional(record.queued),
    attempts: record.attempts,
    cache_hit: record.cacheHit || undefined,
    failed: record.failed,
    tokens_in: usage?.promptTokens,
    tokens_out: usage?.completionTokens,
    estimated: usage?.estimated,
    search_units: record.searchUnits,
    media_count: media?.count || undefined,
    media_bytes: media?.bytes || undefined,
    metadata: Object.keys(metadata).length > 0 ? metadata : undefined,
  }
}

/** The provider that served, was called last, or would have been; undefined when the gateway refused to call any. */
function findProvider({ served, lastCalled, model, refusal }: RequestRecord): string | undefined {
  return (served ?? lastCalled ?? (refusal ? undefined : model))?.provider?.name
}

function roundOptional(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value)
}
