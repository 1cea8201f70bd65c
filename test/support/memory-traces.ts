import type {
  OpenTraces,
  ServerSpanStart,
  Span,
  SpanAttributes,
  SpanStart,
  TraceSettings,
} from '../../src/index.ts'

/** A span as a test sees it. */
export interface SeenSpan {
  readonly name: string
  readonly kind: 'server' | 'client'
  readonly start: Partial<ServerSpanStart>
  /** Those of the start and of the end, without the undefined ones. */
  readonly attributes: Record<string, unknown>
  readonly children: SeenSpan[]
  isError: boolean
  /** How often it was ended. */
  ends: number
}

/** Keeps the spans of a gateway as trees. */
export class MemoryTraces {
  readonly roots: SeenSpan[] = []
  settings: TraceSettings | undefined
  closed: number | undefined
  #ids = 0

  readonly open: OpenTraces = async (settings) => {
    this.settings = settings
    return {
      startServerSpan: (start) => this.#start(start, 'server', this.roots),
      close: async (within) => {
        this.closed = within
      },
    }
  }

  /** All spans, each before its children. */
  get all(): readonly SeenSpan[] {
    return this.roots.flatMap(listSpans)
  }

  /** The last request. */
  get last(): SeenSpan {
    const span = this.roots.at(-1)
    if (!span) throw new Error('no request was traced')
    return span
  }

  #start(start: SpanStart, kind: SeenSpan['kind'], siblings: SeenSpan[]): Span {
    const id = ++this.#ids
    const seen: SeenSpan = {
      name: start.name,
      kind,
      start,
      attributes: withoutUndefined(start.attributes),
      children: [],
      isError: false,
      ends: 0,
    }
    siblings.push(seen)
    return {
      isRecorded: true,
      headers: { traceparent: `span-${id}` },
      startClientSpan: (child) => this.#start(child, 'client', seen.children),
      end({ attributes, isError }) {
        Object.assign(seen.attributes, withoutUndefined(attributes))
        seen.isError = isError
        seen.ends++
      },
    }
  }
}

function listSpans(span: SeenSpan): readonly SeenSpan[] {
  return [span, ...span.children.flatMap(listSpans)]
}

function withoutUndefined(attributes: SpanAttributes): Record<string, unknown> {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))
}
