import type { Environment, OpenTraces } from '../../../src/index.ts'
import type { ExportPorts } from '../traces/export-settings.ts'

/**
 * Exports spans over OTLP/HTTP to the collector that the configuration or the standard variables name. The
 * packages of OpenTelemetry are loaded only when there is one.
 */
export function nodeTraces(ports: ExportPorts): OpenTraces {
  const { env } = ports
  return async ({ endpoint, sampleRatio, log }) => {
    if (isDisabled(env)) return undefined
    const destination = findDestination(env, endpoint)
    if (!destination) return undefined
    const { url, name } = destination
    if (!isWebAddress(url)) {
      log.write('error', 'traces are off: the endpoint must be an http or https URL', { name })
      return undefined
    }
    const { openExport } = await import('../traces/open-export.ts')
    return openExport({ ...ports, url, sampleRatio, log })
  }
}

/** https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ */
function isDisabled(env: Environment): boolean {
  return (
    env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none'
  )
}

interface Destination {
  /** The full address, unchecked. */
  readonly url: string
  /** The setting or the variable that it comes from. */
  readonly name: string
}

/** Only the variable for traces alone holds a full address; the others hold a base URL. */
function findDestination(
  env: Environment,
  configured: string | undefined,
): Destination | undefined {
  if (configured !== undefined) {
    return { url: appendPath(configured), name: 'telemetry.otlp_endpoint' }
  }
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own, OTEL_EXPORTER_OTLP_ENDPOINT: base } = env
  if (own) return { url: own, name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT' }
  return base ? { url: appendPath(base), name: 'OTEL_EXPORTER_OTLP_ENDPOINT' } : undefined
}

const tracesPath = '/v1/traces'

/** Appends the path of traces to a base URL, unless it is there already. */
function appendPath(base: string): string {
  if (!URL.canParse(base)) return base
  const url = new URL(base)
  const path = url.pathname.replace(/\/+$/, '')
  if (!path.endsWith(tracesPath)) url.pathname = path + tracesPath
  return url.href
}

function isWebAddress(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
}
