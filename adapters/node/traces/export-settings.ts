import { parseKeyPairsIntoRecord } from '@opentelemetry/core'
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { maxTimerDelay } from '../../../src/core/ids.ts'
import {
  type Egress,
  type Environment,
  type Log,
  type Millis,
  type ReadFile,
  type UpstreamPort,
  version,
} from '../../../src/index.ts'

/** How spans are exported. */
export interface ExportSettings {
  readonly headers: Readonly<Record<string, string>>
  /** Writes the body of one export. */
  readonly serialize: (spans: ReadableSpan[]) => Uint8Array | undefined
  readonly gzip: boolean
  /** For one export with its retries. */
  readonly timeout: Millis
  /** The certificate authority of the collector, if it has one of its own. */
  readonly egress: Egress | undefined
}

/** What an export needs of its host. */
export interface ExportPorts {
  readonly env: Environment
  /** Sends the spans, through the proxies of the host. */
  readonly send: UpstreamPort
  readonly readFile: ReadFile
}

export interface ExportSources extends Pick<ExportPorts, 'env' | 'readFile'> {
  readonly log: Log
}

/**
 * Reads the variables of an exporter; the one for traces alone wins over the one for all signals. Resolves
 * to undefined when the certificate cannot be read.
 * https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 */
export async function readExportSettings(
  sources: ExportSources,
): Promise<ExportSettings | undefined> {
  const { env, log } = sources
  const authority = await readAuthority(sources)
  if (!authority.ok) return undefined
  const { contentType, serializer } = findForm(env, log)
  const gzip = readVariable(env, 'COMPRESSION') === 'gzip'
  return {
    headers: {
      'user-agent': `model-gateway/${version}`,
      ...readHeaders(env),
      'content-type': contentType,
      ...(gzip && { 'content-encoding': 'gzip' }),
    },
    serialize: (spans) => serializer.serializeRequest(spans),
    gzip,
    timeout: readTimeout(env),
    egress: authority.egress,
  }
}

/** The variable for traces alone wins over the one for all signals; an empty one counts as unset. */
function readVariable(env: Environment, name: string): string | undefined {
  return env[`OTEL_EXPORTER_OTLP_TRACES_${name}`] || env[`OTEL_EXPORTER_OTLP_${name}`] || undefined
}

type Authority = { readonly ok: true; readonly egress?: Egress } | { readonly ok: false }

async function readAuthority({ env, readFile, log }: ExportSources): Promise<Authority> {
  const path = readVariable(env, 'CERTIFICATE')
  if (path === undefined) return { ok: true }
  try {
    return { ok: true, egress: { ca: await readFile(path) } }
  } catch {
    log.write('error', 'traces are off: the file in OTEL_EXPORTER_OTLP_CERTIFICATE cannot be read')
    return { ok: false }
  }
}

const protobuf = { contentType: 'application/x-protobuf', serializer: ProtobufTraceSerializer }
const json = { contentType: 'application/json', serializer: JsonTraceSerializer }

function findForm(env: Environment, log: Log) {
  const protocol = readVariable(env, 'PROTOCOL') ?? 'http/protobuf'
  if (protocol === 'http/json') return json
  if (protocol !== 'http/protobuf') {
    log.write('warn', 'OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf or http/json', {
      used: 'http/protobuf',
    })
  }
  return protobuf
}

/** Returns both lists, with names in lower case. */
function readHeaders(env: Environment): Record<string, string> {
  const { OTEL_EXPORTER_OTLP_HEADERS: all, OTEL_EXPORTER_OTLP_TRACES_HEADERS: own } = env
  const headers = { ...parseKeyPairsIntoRecord(all), ...parseKeyPairsIntoRecord(own) }
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
}

const defaultTimeout: Millis = 10_000

function readTimeout(env: Environment): Millis {
  const timeout = Number(readVariable(env, 'TIMEOUT'))
  return timeout > 0 && timeout <= maxTimerDelay ? timeout : defaultTimeout
}
