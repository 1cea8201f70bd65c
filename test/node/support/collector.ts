import { gunzipSync } from 'node:zlib'
import protobuf from 'protobufjs'
import { expect } from 'vitest'
import { httpServer } from './servers.ts'

/** A span as it arrives at a collector. */
export interface ExportedSpan {
  readonly name: string
  readonly kind: 'SERVER' | 'CLIENT'
  /** In hex, as in `traceparent`. */
  readonly traceId: string
  readonly spanId: string
  /** Empty for a span without a parent. */
  readonly parentSpanId: string
  readonly traceState: string
  /** In milliseconds. */
  readonly duration: number
  readonly isError: boolean
  readonly attributes: Readonly<Record<string, unknown>>
  /** The attributes of the gateway that sent it. */
  readonly resource: Readonly<Record<string, unknown>>
}

export interface Collector {
  readonly url: string
  readonly port: number
  readonly spans: readonly ExportedSpan[]
  /** The requests so far, without their bodies. */
  readonly requests: readonly CollectedRequest[]
  /** All bodies so far, as text. */
  readonly text: string
  /** Resolves to the spans as soon as there are this many. */
  waitFor(count: number): Promise<readonly ExportedSpan[]>
}

interface CollectedRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, unknown>>
}

/** A collector of OTLP over HTTP. `statuses` are those of its first answers; then it takes everything. */
export async function startCollector(statuses: readonly number[] = []): Promise<Collector> {
  const spans: ExportedSpan[] = []
  const requests: CollectedRequest[] = []
  const bodies: string[] = []
  const left = [...statuses]
  const { url, port } = await httpServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      requests.push({ path: incoming.url ?? '', headers: incoming.headers })
      const status = left.shift() ?? 200
      const sent = Buffer.concat(chunks)
      const body = incoming.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
      bodies.push(body.toString('latin1'))
      const isJson = incoming.headers['content-type'] === 'application/json'
      const message = isJson ? JSON.parse(body.toString()) : decode(body)
      if (status === 200) spans.push(...readSpans(message))
      response.writeHead(status).end()
    })
  })
  return {
    url,
    port,
    spans,
    requests,
    get text() {
      return bodies.join('\n')
    },
    async waitFor(count) {
      await expect.poll(() => spans.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(count)
      return spans
    },
  }
}

/**
 * The part of the messages that the gateway sends.
 * https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto
 */
const { root } = protobuf.parse(`
syntax = "proto3";
message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeSpans { repeated Span spans = 2; }
message Span {
  bytes trace_id = 1;
  bytes span_id = 2;
  string trace_state = 3;
  bytes parent_span_id = 4;
  string name = 5;
  int32 kind = 6;
  fixed64 start_time_unix_nano = 7;
  fixed64 end_time_unix_nano = 8;
  repeated KeyValue attributes = 9;
  Status status = 15;
}
message Status { string message = 2; int32 code = 3; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue {
  oneof value {
    string string_value = 1;
    bool bool_value = 2;
    int64 int_value = 3;
    double double_value = 4;
  }
}
`)

/** Decodes a message to the form that OTLP has in JSON. */
function decode(body: Uint8Array): ExportRequest {
  const type = root.lookupType('ExportTraceServiceRequest')
  const object: unknown = type.toObject(type.decode(body), { longs: String, bytes: Buffer })
  return object as ExportRequest
}

type Id = string | Buffer | undefined

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] }
    readonly scopeSpans: readonly { readonly spans: readonly RawSpan[] }[]
  }[]
}

interface RawSpan {
  readonly traceId: Id
  readonly spanId: Id
  readonly parentSpanId?: Id
  readonly traceState?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes?: readonly KeyValue[]
  readonly status?: { readonly code?: number }
}

interface KeyValue {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

function readSpans({ resourceSpans }: ExportRequest): readonly ExportedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => readSpan(span, readAttributes(resource.attributes))),
    ),
  )
}

function readSpan(span: RawSpan, resource: ExportedSpan['resource']): ExportedSpan {
  const nanoseconds = BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)
  return {
    name: span.name,
    kind: span.kind === 2 ? 'SERVER' : 'CLIENT',
    traceId: toHex(span.traceId),
    spanId: toHex(span.spanId),
    parentSpanId: toHex(span.parentSpanId),
    traceState: span.traceState ?? '',
    duration: Number(nanoseconds) / 1e6,
    isError: span.status?.code === 2,
    attributes: readAttributes(span.attributes),
    resource,
  }
}

function toHex(id: Id): string {
  return typeof id === 'string' ? id : (id?.toString('hex') ?? '')
}

function readAttributes(attributes: readonly KeyValue[] = []): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const { intValue, ...other } = value
      return [key, intValue === undefined ? Object.values(other)[0] : Number(intValue)]
    }),
  )
}
