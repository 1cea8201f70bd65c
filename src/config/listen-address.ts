import * as z from 'zod'
import type { Environment } from '../core/ports.ts'
import { applyOverrides } from './overrides.ts'
import { configSchema } from './schema.ts'
import { parseToml } from './toml.ts'

/** The address on which a gateway listens. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/**
 * Returns the address on which a gateway with this configuration listens, also when the configuration
 * is invalid: then from its valid settings, the environment and the defaults.
 */
export function getListenAddress(text: string, env: Environment): ListenAddress {
  const file = parseToml(text)
  const { table } = applyOverrides(file.ok ? file.table : {}, env)
  return schema.parse(table['server'])
}

const { host, port } = configSchema.shape.server.unwrap().shape

const schema = z
  .object({ host: host.catch(host.parse(undefined)), port: port.catch(port.parse(undefined)) })
  .catch({ host: host.parse(undefined), port: port.parse(undefined) })
