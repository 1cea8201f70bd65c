import type { Log } from './core/ports.ts'
import type { Recorder } from './core/settlement.ts'

/** One line a finished request: ids, counts and codes, never content, keys or headers. */
export function logRecorder(log: Log): Recorder {
  return (settlement) => {
    const level = settlement.status >= 500 ? 'warn' : 'info'
    if (!log.enabled(level)) return
    const { usage, served, media, metadata } = settlement
    log.write(level, 'request', {
      request_id: settlement.requestId,
      key_id: settlement.keyId,
      capability: settlement.capability,
      model: settlement.model?.id,
      model_used: served?.id,
      provider: served?.provider.name,
      status: settlement.status,
      error_code: settlement.errorCode,
      stream: settlement.stream,
      latency_ms: Math.round(settlement.latency),
      ttft_ms: rounded(settlement.timeToFirstToken),
      attempts: settlement.attempts,
      tokens_in: usage?.promptTokens,
      tokens_out: usage?.completionTokens,
      estimated: usage?.estimated,
      search_units: settlement.searchUnits,
      media_count: media?.count || undefined,
      media_bytes: media?.bytes || undefined,
      metadata: Object.keys(metadata).length > 0 ? metadata : undefined,
    })
  }
}

function rounded(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value)
}
