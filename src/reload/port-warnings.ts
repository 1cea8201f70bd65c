import { isTable, type LoadedConfig, type ProviderConfig, type Table } from '../config/index.ts'

/** The ports of a host that some settings need. */
export interface HostPorts {
  readonly tokenizer?: unknown
  readonly upstream?: unknown
  readonly traces?: unknown
  readonly workers?: unknown
}

/** Warns of settings that have no effect, or a smaller one, because the host lacks a port. */
export function findPortWarnings({ config, set }: LoadedConfig, ports: HostPorts) {
  const warnings: string[] = []
  if (config.tokenizer.mode === 'accurate' && !ports.tokenizer) {
    warnings.push(
      'tokenizer.mode is "accurate", but this host has no tokenizer, so tokens are estimated; ' +
        'nodePorts() includes one',
    )
  }
  if (setsConnectTimeout(set) && !ports.upstream) {
    warnings.push(
      'connect_timeout_ms has no effect with the fetch of the platform, so the first token timeout ' +
        'applies; nodePorts() includes an upstream client that has a connect timeout',
    )
  }
  if (config.telemetry.otlp_endpoint !== undefined && !ports.traces) {
    warnings.push(
      'telemetry.otlp_endpoint has no effect, because this host cannot export traces; nodePorts() ' +
        'includes an exporter',
    )
  }
  if (typeof config.server.workers === 'number' && config.server.workers > 1 && !ports.workers) {
    warnings.push(
      'server.workers has no effect, because this host is one process; the command gateway starts workers',
    )
  }
  if (!ports.upstream) warnings.push(...config.providers.flatMap(warnOfEgress))
  return warnings
}

function warnOfEgress({ name, proxy, ca_file: file }: ProviderConfig): readonly string[] {
  if (proxy === undefined && file === undefined) return []
  return [
    `provider ${name} has a proxy or a ca_file, which the fetch of the platform cannot use, so its ` +
      'calls fail; nodePorts() includes an upstream client that can',
  ]
}

function setsConnectTimeout({ resilience, providers }: Table): boolean {
  const tables = [resilience, ...(Array.isArray(providers) ? providers : [])]
  return tables.some((table) => isTable(table) && table['connect_timeout_ms'] !== undefined)
}
