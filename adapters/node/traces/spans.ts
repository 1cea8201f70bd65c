import {
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import type { Span, SpanEnd, SpanStart, TracePort } from '../../../src/index.ts'

const propagator = new W3CTraceContextPropagator()

/** Returns the function that starts server spans on a tracer of OpenTelemetry. */
export function createServerSpans(tracer: Tracer): TracePort['startServerSpan'] {
  return ({ traceparent, tracestate, ...start }) => {
    const carrier = { traceparent, tracestate }
    const parent = propagator.extract(ROOT_CONTEXT, carrier, defaultTextMapGetter)
    return startSpan(start, { tracer, kind: SpanKind.SERVER, parent })
  }
}

interface Place {
  readonly tracer: Tracer
  readonly kind: SpanKind
  readonly parent: Context
}

function startSpan({ name, attributes }: SpanStart, { tracer, kind, parent }: Place): Span {
  const span = tracer.startSpan(name, { kind, attributes }, parent)
  return new TracedSpan(span, { tracer, context: trace.setSpan(parent, span) })
}

interface SpanContext {
  readonly tracer: Tracer
  /** The context of the calls below the span. */
  readonly context: Context
}

class TracedSpan implements Span {
  readonly #span: OtelSpan
  readonly #below: SpanContext

  constructor(span: OtelSpan, below: SpanContext) {
    this.#span = span
    this.#below = below
  }

  get isRecorded(): boolean {
    return this.#span.isRecording()
  }

  get headers(): Readonly<Record<string, string>> {
    const headers: Record<string, string> = {}
    propagator.inject(this.#below.context, headers, defaultTextMapSetter)
    return headers
  }

  startClientSpan(start: SpanStart): Span {
    const { tracer, context } = this.#below
    return startSpan(start, { tracer, kind: SpanKind.CLIENT, parent: context })
  }

  end({ attributes, isError }: SpanEnd): void {
    this.#span.setAttributes(attributes)
    if (isError) this.#span.setStatus({ code: SpanStatusCode.ERROR })
    this.#span.end()
  }
}
