import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildBundle } from './bundle.ts'
import {
  type GatewayStart,
  startCachedGateway,
  startGateway,
  startKeyedGateway,
  startSharingGateway,
} from './gateway.ts'
import { freePort, getPid, listens, startNode, startScript, waitUntil } from './processes.ts'

/**
 * `keyed` is the gateway with auth on, `sharing` the same with its state on a Redis server, `cached` the one
 * with the cache on.
 */
export type SubjectName =
  | 'direct'
  | 'baseline'
  | 'gateway'
  | 'keyed'
  | 'sharing'
  | 'cached'
  | 'portkey'

/** True for a subject that only a scenario of its own measures. */
export function isExtra(name: SubjectName): boolean {
  return name === 'keyed' || name === 'sharing' || name === 'cached'
}

/** A measured server for chat requests. */
export interface Subject {
  readonly name: SubjectName
  readonly port: number
  readonly pid: number
  readonly headers: Readonly<Record<string, string>>
}

export interface Field {
  /** The fake upstream itself comes first, as the subject `direct`. */
  readonly subjects: readonly Subject[]
  readonly upstreamPid: number
  /** The server of the shared state; absent without that subject. */
  readonly redisPort?: number | undefined
  /** Absent when the gateway cannot be built. */
  readonly start?: GatewayStart | undefined
}

export interface FieldOptions {
  /** Number of frames that the fake upstream sends in one write. */
  readonly group: string
  readonly gatewayStarts: number
  readonly withKeyed: boolean
  readonly withSharing: boolean
  readonly withCached: boolean
}

/** Starts the fake upstream and every proxy that this machine has. */
export async function startAll({
  group,
  gatewayStarts,
  withKeyed,
  withSharing,
  withCached,
}: FieldOptions): Promise<Field> {
  const direct = await startUpstream(group)
  const subjects = [direct, await startBaseline(direct.port)]
  const gateway = buildBundle() ? await startGateway(direct.port, gatewayStarts) : undefined
  if (gateway) {
    const { port, child } = gateway
    subjects.push({ name: 'gateway', port, pid: getPid(child), headers: credential })
  }
  if (gateway && withKeyed) {
    const { port, child, key } = await startKeyedGateway(direct.port)
    subjects.push({ name: 'keyed', port, pid: getPid(child), headers: bearer(key) })
  }
  let redisPort: number | undefined
  if (gateway && withSharing) {
    const { port, child, key, ...server } = await startSharingGateway(direct.port)
    redisPort = server.redisPort
    subjects.push({ name: 'sharing', port, pid: getPid(child), headers: bearer(key) })
  }
  if (gateway && withCached) {
    const { port, child } = await startCachedGateway(direct.port)
    subjects.push({ name: 'cached', port, pid: getPid(child), headers: credential })
  }
  if (existsSync(portkeyPath)) subjects.push(await startPortkey(direct.port))
  return { subjects, upstreamPid: direct.pid, redisPort, start: gateway?.start }
}

async function startUpstream(group: string): Promise<Subject> {
  const port = await freePort()
  const child = startScript('upstream', ['--port', String(port), '--group', group])
  await waitUntil(() => listens(port), child)
  return { name: 'direct', port, pid: getPid(child), headers: credential }
}

async function startBaseline(upstreamPort: number): Promise<Subject> {
  const port = await freePort()
  const child = startScript('baseline', [
    '--port',
    String(port),
    '--upstream',
    String(upstreamPort),
  ])
  await waitUntil(() => listens(port), child)
  return { name: 'baseline', port, pid: getPid(child), headers: credential }
}

/** The npm package of Portkey's gateway, when `bench/peers` has been installed. */
async function startPortkey(upstreamPort: number): Promise<Subject> {
  const port = await freePort()
  const child = startNode([portkeyPath, '--headless', `--port=${port}`], { stdio: 'ignore' })
  await waitUntil(() => listens(port), child)
  const headers = {
    ...credential,
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
  }
  return { name: 'portkey', port, pid: getPid(child), headers }
}

function bearer(key: string) {
  return { authorization: `Bearer ${key}` }
}

const credential = bearer('sk-bench')

const portkeyPath = fileURLToPath(
  new URL('peers/node_modules/@portkey-ai/gateway/build/start-server.js', import.meta.url),
)
