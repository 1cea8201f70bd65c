import type { ChildProcess } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { strategies } from '../src/core/route.ts'
import { bundlePath } from './bundle.ts'
import { median, residentMegabytes } from './measure.ts'
import {
  freePort,
  getPid,
  isHealthy,
  listens,
  type Runtime,
  startNode,
  startProgram,
  stop,
  waitUntil,
} from './processes.ts'
import {
  benchModel,
  models,
  routeName,
  routeTargets,
  translatedKinds,
  translatedModel,
} from './scenarios.ts'
import { vendorStreams } from './vendor-streams.ts'

export interface GatewayStart {
  /** Milliseconds from the spawn to the first 200 of `/health`, the median of all starts. */
  readonly milliseconds: number
  /** Resident memory a second after the last start, before any request. */
  readonly idleMegabytes: number
}

export interface StartedGateway {
  readonly child: ChildProcess
  readonly port: number
  readonly start: GatewayStart
}

/** Starts the bundled gateway several times and leaves the last one running. */
export async function startGateway(
  upstreamPort: number,
  times: number,
  runtime?: Runtime,
): Promise<StartedGateway> {
  const port = await freePort()
  const folder = configFolder(port, upstreamPort)
  const durations: number[] = []
  for (;;) {
    const started = performance.now()
    const child = spawnGateway(folder, runtime)
    await waitUntil(() => isHealthy(port), child)
    durations.push(performance.now() - started)
    if (durations.length === times) {
      await sleep(1000)
      const idleMegabytes = residentMegabytes(getPid(child))
      return { child, port, start: { milliseconds: median(durations), idleMegabytes } }
    }
    await stop(child)
  }
}

/** Starts the bundled gateway with the cache on for every model. */
export async function startCachedGateway(
  upstreamPort: number,
): Promise<Pick<StartedGateway, 'child' | 'port'>> {
  const port = await freePort()
  const folder = configFolder(port, upstreamPort)
  const file = join(folder, 'config.toml')
  const config = readFileSync(file, 'utf8').replaceAll(
    'capabilities =',
    'cache = true\ncapabilities =',
  )
  writeFileSync(file, `${config}\n[cache]\nenabled = true\n`)
  const child = spawnGateway(folder)
  await waitUntil(() => isHealthy(port), child)
  return { child, port }
}

export interface KeyedGateway {
  readonly child: ChildProcess
  readonly port: number
  /** The secret of a key with every kind of limit, each high enough. */
  readonly key: string
}

/** Starts the bundled gateway with auth on. `settings`: further tables of its configuration. */
export async function startKeyedGateway(
  upstreamPort: number,
  settings = '',
): Promise<KeyedGateway> {
  const port = await freePort()
  const folder = configFolder(port, upstreamPort)
  appendFileSync(join(folder, 'config.toml'), auth + settings)
  const child = spawnGateway(folder)
  await waitUntil(() => isHealthy(port), child)
  const create = async (resource: string, fields: object) => {
    const answer = await fetch(`http://127.0.0.1:${port}/admin/${resource}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${masterKey}` },
      body: JSON.stringify({ name: 'bench', budget_max: 1e6, ...fields }),
    })
    // The response of the admin API to a creation.
    return (await answer.json()) as { readonly id: string; readonly key: string }
  }
  const group = await create('groups', {})
  const limits = { rpm_limit: 1e7, tpm_limit: 1e9, group_id: group.id }
  const { key } = await create('keys', limits)
  return { child, port, key }
}

export interface SharingGateway extends KeyedGateway {
  readonly redisPort: number
}

/** Starts a Redis server, and the bundled gateway with auth on that shares its state there. */
export async function startSharingGateway(upstreamPort: number): Promise<SharingGateway> {
  const redisPort = await freePort()
  const args = ['--port', String(redisPort), '--save', '', '--appendonly', 'no']
  const redis = startProgram('redis-server', args, { stdio: 'ignore', cwd: tmpdir() })
  await waitUntil(() => listens(redisPort), redis)
  const settings = `\n[shared]\nurl = "redis://127.0.0.1:${redisPort}"\n`
  return { ...(await startKeyedGateway(upstreamPort, settings)), redisPort }
}

/** The master key of the gateways with auth on. */
export const masterKey = 'be'.repeat(32)

/** Appended to the file, after the last model. */
const auth = `
[auth]
enabled = true
`

/** An empty environment, so that the developer's shell overrides no setting. */
function spawnGateway(folder: string, runtime?: Runtime): ChildProcess {
  const env = {
    PATH: process.env['PATH'],
    BENCH_UPSTREAM_KEY: 'sk-bench',
    GATEWAY_MASTER_KEY: masterKey,
  }
  const args = [bundlePath, '--config', join(folder, 'config.toml')]
  return startNode(args, { cwd: folder, env }, runtime)
}

function configFolder(port: number, upstreamPort: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const head = `
log_format = "json"

[server]
port = ${port}

[[providers]]
name = "upstream"
kind = "openai"
base_url = "http://127.0.0.1:${upstreamPort}/v1"
api_key_env = "BENCH_UPSTREAM_KEY"
`
  const entries = [
    ...models.map((id) => modelEntry(id, id)),
    ...routeTargets.map((id) => modelEntry(id, benchModel)),
  ]
  const vendors = translatedKinds.map((kind) => vendorEntry(kind, upstreamPort))
  const routes = strategies.map(routeEntry)
  writeFileSync(join(folder, 'config.toml'), [head, ...entries, ...vendors, ...routes].join(''))
  return folder
}

function modelEntry(id: string, upstreamId: string): string {
  return `
[[providers.models]]
id = "${id}"
upstream_id = "${upstreamId}"
capabilities = ["chat"]
cost_per_1m_input = 0.15
cost_per_1m_output = 0.6
`
}

function routeEntry(strategy: string): string {
  return `
[[routes]]
id = "${routeName(strategy)}"
strategy = "${strategy}"
targets = [${routeTargets.map((model) => `{ model = "${model}" }`).join(', ')}]
`
}

function vendorEntry(kind: keyof typeof vendorStreams, upstreamPort: number): string {
  return `
[[providers]]
name = "${kind}"
kind = "${kind}"
base_url = "http://127.0.0.1:${upstreamPort}"
api_key_env = "BENCH_UPSTREAM_KEY"

[[providers.models]]
id = "${translatedModel(kind)}"
upstream_id = "${vendorStreams[kind].model}"
capabilities = ["chat"]
`
}
