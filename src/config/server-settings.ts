import * as z from 'zod'
import type { Environment } from '../core/ports.ts'
import { applyOverrides } from './overrides.ts'
import { configSchema } from './schema.ts'
import { parseToml } from './toml.ts'
import { uncompiled } from './uncompiled.ts'

/** What a process must know of a configuration to reach the gateway, or to start its workers. */
export type ServerSettings = z.infer<typeof schema>

/**
 * Returns the settings of the listener, also when the configuration is invalid: then from its valid
 * settings, the environment and the defaults.
 */
export function readServerSettings(text: string, env: Environment): ServerSettings {
  const file = parseToml(text)
  const { table } = applyOverrides(file.ok ? file.table : {}, env)
  return schema.catch(defaults).parse(table['server'], uncompiled)
}

/** Whether a configuration turns auth off. False for one that is not TOML, and for a value that is not valid. */
export function isAuthOff(text: string, env: Environment): boolean {
  const file = parseToml(text)
  if (!file.ok) return false
  const { table } = applyOverrides(file.table, env)
  const auth = configSchema.shape.auth.safeParse(table['auth'], uncompiled)
  return auth.success && !auth.data.enabled
}

const { host, port, workers, max_connections_per_address, drain_delay_ms } =
  configSchema.shape.server.unwrap().shape

const schema = z.object({
  host: host.catch(host.parse(undefined)),
  port: port.catch(port.parse(undefined)),
  workers: workers.catch(workers.parse(undefined)),
  max_connections_per_address: max_connections_per_address.catch(0),
  drain_delay_ms: drain_delay_ms.catch(0),
})

const defaults = schema.parse({}, uncompiled)
