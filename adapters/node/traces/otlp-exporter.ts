import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base'
import { toFailure, type UpstreamFailure } from '../../../src/core/failure.ts'
import { findErrorCode } from '../../../src/core/failure-reason.ts'
import type { Log, Millis, UpstreamPort } from '../../../src/index.ts'
import { CancelScope } from '../../../src/wire/cancel-scope.ts'
import { LightAbortController } from '../../../src/wire/light-abort-controller.ts'
import { parseRetryAfter } from '../../../src/wire/retry-after.ts'
import { systemClock } from '../process/system.ts'
import type { ExportSettings } from './export-settings.ts'

export interface OtlpExporterOptions extends ExportSettings {
  readonly url: string
  readonly send: UpstreamPort
  readonly log: Log
}

/** The waits between the calls of one export. */
const firstWait: Millis = 1_000
const maxWait: Millis = 5_000
/** At most one warning in this time. */
const quietTime: Millis = 60_000
const maxAnswerBytes = 64 * 1024

/**
 * Posts batches of spans to a collector, over the connections of the host and so through its proxies, which
 * the exporter of OpenTelemetry cannot do. A batch that the collector does not take in time is lost; a
 * warning says how many spans.
 */
export class OtlpExporter implements SpanExporter {
  readonly #options: OtlpExporterOptions
  readonly #scope = new CancelScope(systemClock)
  #isClosing = false
  /** Spans that were lost since the last report. */
  #lost = 0
  #lastReason = ''
  #reportedAt = Number.NEGATIVE_INFINITY

  constructor(options: OtlpExporterOptions) {
    this.#options = options
  }

  async export(spans: ReadableSpan[], done: (result: ExportResult) => void): Promise<void> {
    const reason = await this.#export(spans)
    if (reason !== undefined) this.#addLost(spans.length, reason)
    done({ code: reason === undefined ? ExportResultCode.SUCCESS : ExportResultCode.FAILED })
  }

  /** A failed export is not tried again from now on, and not reported before `shutdown`. */
  prepareShutdown(): void {
    this.#isClosing = true
  }

  /** Ends the running exports. */
  abandon(): void {
    this.#scope.end({ kind: 'shutdown' })
  }

  /** Reports what was lost since the last warning. */
  async shutdown(): Promise<void> {
    if (this.#lost > 0) this.#report()
    this.#scope.close()
  }

  /** Resolves to undefined, or to the reason why the spans are lost. */
  async #export(spans: ReadableSpan[]): Promise<string | undefined> {
    const { serialize, gzip: isZipped, timeout } = this.#options
    const plain = serialize(spans)
    if (!plain) return 'not serialized'
    const body = isZipped ? await compress(plain) : plain
    const scope = this.#scope.open()
    scope.endAfter(timeout, { kind: 'timeout', limit: 'total' })
    try {
      return await this.#deliver(body, scope)
    } finally {
      scope.close()
    }
  }

  async #deliver(body: Uint8Array, scope: CancelScope): Promise<string | undefined> {
    for (let wait = firstWait; ; wait = Math.min(wait * 2, maxWait)) {
      const outcome = await this.#post(body, scope)
      if (outcome.kind === 'taken') return undefined
      const pause = outcome.retryAfter ?? wait
      const mayRetry = outcome.kind === 'retryable' && !this.#isClosing && !scope.ended
      if (!mayRetry || pause >= scope.remaining()) return outcome.reason
      await scope.sleep(pause)
    }
  }

  async #post(body: Uint8Array, scope: CancelScope): Promise<Outcome> {
    const { url, headers, send, egress, timeout } = this.#options
    const cancel = new LightAbortController()
    const stop = scope.onEnd(() => cancel.abort())
    try {
      const {
        status,
        header,
        body: answer,
      } = await send({
        method: 'POST',
        url,
        headers,
        body,
        egress,
        connectTimeout: timeout,
        queueLimit: maxAnswerBytes,
        signal: cancel,
      })
      answer.drain()
      if (status >= 200 && status < 300) return { kind: 'taken' }
      const kind = retryable.has(status) ? 'retryable' : 'refused'
      const retryAfter = parseRetryAfter(header, systemClock.now())
      return { kind, reason: `status ${status}`, retryAfter }
    } catch (error) {
      return { kind: 'retryable', reason: describe(scope.ended ?? toFailure(error)) }
    } finally {
      stop()
    }
  }

  #addLost(spans: number, reason: string): void {
    this.#lost += spans
    this.#lastReason = reason
    const now = systemClock.elapsed()
    if (this.#isClosing || now - this.#reportedAt < quietTime) return
    this.#reportedAt = now
    this.#report()
  }

  #report(): void {
    const { log, url } = this.#options
    log.write('warn', 'spans are lost: the collector of traces does not take them', {
      collector: new URL(url).host,
      reason: this.#lastReason,
      spans: this.#lost,
    })
    this.#lost = 0
  }
}

type Outcome =
  | { readonly kind: 'taken' }
  | {
      readonly kind: 'retryable' | 'refused'
      readonly reason: string
      readonly retryAfter?: Millis | undefined
    }

const compress = promisify<Uint8Array, Uint8Array>(gzip)

/** https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes */
const retryable = new Set([429, 502, 503, 504])

function describe(failure: UpstreamFailure): string {
  return findErrorCode(failure) ?? failure.kind
}
