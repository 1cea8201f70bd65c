import type { Millis } from './ids.ts'
import type { Log } from './ports.ts'

/** The attributes of a span. One that is undefined is left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

/** Where the spans of one gateway go, by its configuration. */
export interface TraceSettings {
  /** `telemetry.otlp_endpoint`: the base URL of a collector; undefined when the host decides. */
  readonly endpoint: string | undefined
  /** The share of new traces that are recorded, from 0 to 1. A sampled parent is always followed. */
  readonly sampleRatio: number
  readonly log: Log
}

/** Resolves to the spans of one gateway; to undefined when they have no destination. Never rejects. */
export type OpenTraces = (settings: TraceSettings) => Promise<TracePort | undefined>

/** Creates and exports the spans of one gateway. Its methods never throw and never wait for an export. */
export interface TracePort {
  /** Starts a span of kind server, under the parent in the W3C headers, if they are valid. */
  startServerSpan(start: ServerSpanStart): Span
  /** Exports the ended spans for at most `within`, then frees everything. Never rejects. */
  close(within: Millis): Promise<void>
}

export interface SpanStart {
  readonly name: string
  readonly attributes: SpanAttributes
}

export interface ServerSpanStart extends SpanStart {
  /** The W3C header of the request, unchecked; undefined when absent. */
  readonly traceparent: string | undefined
  readonly tracestate: string | undefined
}

/** One operation of a trace. */
export interface Span {
  /** False when the trace is not sampled, so that attributes would be lost. */
  readonly isRecorded: boolean
  /** `traceparent`, and `tracestate` if there is one, for the calls of this operation. */
  readonly headers: Readonly<Record<string, string>>
  /** Starts a span of kind client below this one. */
  startClientSpan(start: SpanStart): Span
  /** Ends the span now. Called once. */
  end(end: SpanEnd): void
}

export interface SpanEnd {
  readonly attributes: SpanAttributes
  /** The operation failed, and the fault is not the caller's. */
  readonly isError: boolean
}
