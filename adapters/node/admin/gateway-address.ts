import { readServerSettings } from '../../../src/config/index.ts'
import type { Environment } from '../../../src/index.ts'

/**
 * Returns the address at which to reach a gateway with this configuration, for example
 * `http://127.0.0.1:8080`. The configuration may be empty or invalid: a running gateway keeps serving
 * the previous one.
 */
export function getGatewayAddress(config: string, env: Environment): string {
  const { host, port } = readServerSettings(config, env)
  return `http://${toConnectHost(host)}:${port}`
}

/** Returns the host to connect to for the host that a server binds. */
function toConnectHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
