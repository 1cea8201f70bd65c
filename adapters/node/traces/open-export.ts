import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources'
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'
import { type Log, type TracePort, version } from '../../../src/index.ts'
import { systemClock } from '../process/system.ts'
import { type ExportPorts, readExportSettings } from './export-settings.ts'
import { OtlpExporter } from './otlp-exporter.ts'
import { createServerSpans } from './spans.ts'

export interface ExportOptions extends ExportPorts {
  /** The full address of the collector. */
  readonly url: string
  /** The share of new traces that are recorded, from 0 to 1. */
  readonly sampleRatio: number
  readonly log: Log
}

/** Starts to export spans in batches; resolves to undefined when a setting of the export is unusable. */
export async function openExport(options: ExportOptions): Promise<TracePort | undefined> {
  const { url, sampleRatio, log, send } = options
  const settings = await readExportSettings(options)
  if (!settings) return undefined
  const exporter = new OtlpExporter({ ...settings, url, send, log })
  const provider = new BasicTracerProvider({
    resource: describeGateway(),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) }),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  })
  log.write('info', 'traces are exported', { endpoint: maskUrl(url), sample_ratio: sampleRatio })
  return {
    startServerSpan: createServerSpans(provider.getTracer('model-gateway', version)),
    async close(within) {
      const limit = systemClock.schedule(within, () => exporter.abandon())
      exporter.prepareShutdown()
      // When an export fails, the provider rejects, and does not shut the exporter down.
      await provider.shutdown().catch(() => {})
      limit.cancel()
      await exporter.shutdown()
    },
  }
}

/** `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` win over the name and the version of the gateway. */
function describeGateway() {
  return defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'model-gateway', 'service.version': version }))
    .merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] }))
}

/** Removes a user name and a password, and the query, which may hold a token. */
function maskUrl(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}
