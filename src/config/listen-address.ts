import * as z from 'zod'
import type { Environment } from '../core/ports.ts'
import { applyOverrides } from './overrides.ts'
import { configSchema } from './schema.ts'
import { parseToml } from './toml.ts'

/** Where a gateway listens. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/**
 * Where a gateway with this configuration listens. What cannot serve, or cannot even be read, does
 * not matter: its address is taken from the rest, the environment and the defaults.
 */
export function listenAddress(text: string, env: Environment): ListenAddress {
  const file = parseToml(text)
  const { table } = applyOverrides(file.ok ? file.table : {}, env)
  return schema.parse(table['server'])
}

const { host, port } = configSchema.shape.server.unwrap().shape

const schema = z
  .object({ host: host.catch(host.parse(undefined)), port: port.catch(port.parse(undefined)) })
  .catch({ host: host.parse(undefined), port: port.parse(undefined) })
