import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { toConfig, upstreamEnvironment } from './kinds.ts'

export interface RunningGateway {
  readonly address: string
  /** A virtual key. */
  readonly key: string
  /** A virtual key without any budget. */
  readonly spentKey: string
  stop(): Promise<void>
}

const masterKey = '0123456789abcdef'.repeat(4)

/** Builds the gateway, and starts it with auth on in front of the upstream. `home` gets its files. */
export async function startGateway(upstream: string, home: string): Promise<RunningGateway> {
  execFileSync(process.execPath, ['scripts/build.mjs', '--no-types'], { stdio: 'inherit' })
  const config = join(home, 'config.toml')
  writeFileSync(config, toConfig(upstream, join(home, 'gateway.db')))
  const child = spawn(process.execPath, ['dist/gateway.js', '--config', config], {
    env: {
      PATH: process.env['PATH'],
      GATEWAY_MASTER_KEY: masterKey,
      GATEWAY_LOG_FORMAT: 'json',
      GATEWAY_SERVER__PORT: String(await findFreePort()),
      ...upstreamEnvironment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const address = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}`)))
    createInterface(child.stdout).on('line', (line) => {
      const [, found] = /"address":"([^"]+)"/.exec(line) ?? []
      if (found) resolve(found)
    })
  })
  return {
    address,
    key: await createKey(address, 100),
    spentKey: await createKey(address, 0),
    async stop() {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}

/** `budget` is in US dollars. */
async function createKey(address: string, budget: number): Promise<string> {
  const response = await fetch(`${address}/admin/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${masterKey}` },
    body: JSON.stringify({ name: 'conformance', budget_max: budget }),
  })
  // A created key is answered with its secret.
  const { key } = (await response.json()) as { key: string }
  return key
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A server that listens on a port has an address with a port.
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}
