import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { masterKey } from '../../support/keyed-gateway.ts'
import { type Command, command } from './command.ts'

const master = { authorization: `Bearer ${masterKey}` }

/** The shipped executable with auth enabled, as seen by its clients and its operator. */
export interface ShippedGateway extends Command {
  readonly address: string
  /** The header with the key of a client. */
  readonly client: { readonly authorization: string }
  /** The path of its database. */
  readonly database: string
  admin(method: string, path: string, body?: string, headers?: object): Promise<Response>
  /** Returns the models in `/v1/models`. */
  models(): Promise<string[]>
  /** Returns the value of a series without labels. */
  count(series: string): Promise<number>
}

/** Creates a folder with a configuration file, readable by every user. */
export function configFolder(text: string): { readonly home: string; readonly path: string } {
  const home = mkdtempSync(join(tmpdir(), 'gateway-reload-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  chmodSync(home, 0o755)
  const path = join(home, 'config.toml')
  writeFileSync(path, text)
  return { home, path }
}

export interface ShippedOptions {
  /** Maximum size of its files, in blocks of 1,024 bytes. */
  readonly blocks?: number
}

/** Runs the executable with the configuration at `path`, on a free port. */
export async function shippedGateway(
  script: string,
  path: string,
  { blocks }: ShippedOptions = {},
): Promise<ShippedGateway> {
  const store = mkdtempSync(join(tmpdir(), 'gateway-data-'))
  onTestFinished(() => rmSync(store, { recursive: true }))
  chmodSync(store, 0o777)
  const database = join(store, 'gateway.db')
  const started = command([script, '--config', path], {
    blocks,
    env: {
      GATEWAY_MASTER_KEY: masterKey,
      GATEWAY_LOG_FORMAT: 'json',
      GATEWAY_SERVER__PORT: String(await freePort()),
      GATEWAY_AUTH__DB_PATH: database,
    },
  })
  const [, address = ''] = await started.until(/"address":"([^"]+)"/)
  const admin: ShippedGateway['admin'] = (method, route, body, headers = {}) =>
    fetch(address + route, {
      method,
      headers: { ...master, ...headers },
      ...(body !== undefined && { body }),
    })
  const { key } = await (await admin('POST', '/admin/keys', '{"name":"k"}')).json()
  const client = { authorization: `Bearer ${key}` }
  return {
    ...started,
    address,
    client,
    database,
    admin,
    async models() {
      const { data } = await (await fetch(`${address}/v1/models`, { headers: client })).json()
      return data.map(({ id }: { id: string }) => id)
    },
    async count(series) {
      const metrics = await (await fetch(`${address}/metrics`)).text()
      return Number(new RegExp(`^${series} (.+)$`, 'm').exec(metrics)?.[1])
    },
  }
}

/** Returns a port without a listener. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
