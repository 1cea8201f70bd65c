import { isTable, type LoadedConfig, type ProviderConfig, type Table } from '../config/index.ts'

/** What the host has brought along. */
interface Ports {
  readonly tokenizer?: unknown
  readonly upstream?: unknown
}

/** Settings that have no effect, or less of it, for want of a port of the host. */
export function findPortWarnings({ config, set }: LoadedConfig, ports: Ports): readonly string[] {
  const warnings: string[] = []
  if (config.tokenizer.mode === 'accurate' && !ports.tokenizer) {
    warnings.push('tokenizer.mode is accurate, but this host cannot count: tokens are estimated')
  }
  if (setsConnectTimeout(set) && !ports.upstream) {
    warnings.push(
      'connect_timeout_ms has no effect: the fetch of the platform cannot bound the time to ' +
        'connect, so the first token timeout does; nodePorts() brings upstream calls that can',
    )
  }
  if (!ports.upstream) warnings.push(...config.providers.flatMap(egressWarning))
  return warnings
}

function egressWarning({ name, proxy, ca_file: file }: ProviderConfig): readonly string[] {
  if (proxy === undefined && file === undefined) return []
  return [
    `provider ${name} has a proxy or a ca_file, which the fetch of the platform cannot use, so its ` +
      'calls fail; nodePorts() brings upstream calls that can',
  ]
}

function setsConnectTimeout({ resilience, providers }: Table): boolean {
  const tables = [resilience, ...(Array.isArray(providers) ? providers : [])]
  return tables.some((table) => isTable(table) && table['connect_timeout_ms'] !== undefined)
}
