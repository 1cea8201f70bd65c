import { buildBundle } from './bundle.ts'
import {
  type GatewayStart,
  startCachedGateway,
  startGateway,
  startKeyedGateway,
  startSharingGateway,
} from './gateway.ts'
import { freePort, getPid, listens, type Runtime, startScript, waitUntil } from './processes.ts'

/**
 * The subjects that only a scenario of their own measures: `keyed` is the gateway with auth on, `sharing` the
 * same with its state on a Redis server, `cached` the one with the cache on.
 */
export const extraSubjects: readonly string[] = ['keyed', 'sharing', 'cached']

/** A measured server for chat requests. */
export interface Subject {
  readonly name: string
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

/** Starts the fake upstream and the proxies. */
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
  return { subjects, upstreamPid: direct.pid, redisPort, start: gateway?.start }
}

/** Starts the fake upstream. `group`: the number of frames that it sends in one write. */
export async function startUpstream(group: string): Promise<Subject> {
  const port = await freePort()
  const child = startScript('upstream', ['--port', String(port), '--group', group])
  await waitUntil(() => listens(port), child)
  return { name: 'direct', port, pid: getPid(child), headers: credential }
}

export async function startBaseline(upstreamPort: number, runtime?: Runtime): Promise<Subject> {
  const port = await freePort()
  const args = ['--port', String(port), '--upstream', String(upstreamPort)]
  const child = startScript('baseline', args, runtime)
  await waitUntil(() => listens(port), child)
  return { name: 'baseline', port, pid: getPid(child), headers: credential }
}

/** Builds the gateway when needed and starts it with a plain configuration. */
export async function startPlain(upstreamPort: number, runtime?: Runtime): Promise<Subject> {
  if (!buildBundle()) throw new Error('the build has failed')
  const { port, child } = await startGateway(upstreamPort, 1, runtime)
  return { name: 'gateway', port, pid: getPid(child), headers: credential }
}

function bearer(key: string) {
  return { authorization: `Bearer ${key}` }
}

/** The headers of requests to subjects without keys of their own. */
export const credential = bearer('sk-bench')
