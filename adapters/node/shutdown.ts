import type { Server } from 'node:http'
import { errorFields } from '../../src/core/error-fields.ts'
import type { ActiveRequests } from './http/active-requests.ts'
import type { HostedGateway } from './http/served-request.ts'

/** How long the stages of a shutdown may take, in milliseconds. */
export interface ShutdownTimes {
  /** For requests to come to their own end, streams included. */
  readonly drain: number
  /** For the terminal frames of what had to be ended to leave. It is a part of `flush`. */
  readonly gracePeriod: number
  /** For the gateway to save what it holds. */
  readonly flush: number
}

/** Together with the end of the process they stay below 35 s. */
export const shutdownTimes: ShutdownTimes = Object.freeze({
  drain: 30_000,
  gracePeriod: 1_000,
  flush: 4_000,
})

interface ShutdownOptions {
  readonly server: Server
  readonly activeRequests: ActiveRequests
  readonly gateway: HostedGateway
  readonly times?: Partial<ShutdownTimes> | undefined
}

/**
 * Stops a host: no new connections, a time to drain, an end for what still runs, the flush. Resolves
 * to true when everything was saved.
 */
export async function shutDown({
  server,
  activeRequests,
  gateway,
  times,
}: ShutdownOptions): Promise<boolean> {
  const { drain, gracePeriod, flush } = { ...shutdownTimes, ...times }
  const { log } = gateway
  log.write('info', 'shutting down', { running: activeRequests.running })
  activeRequests.startDraining()
  const closed = new Promise((resolve) => {
    server.close(resolve)
  })

  await withTimeout(drain, (signal) => activeRequests.waitUntilIdle(signal))
  const end = performance.now() + flush
  if (activeRequests.running > 0) {
    log.write('warn', 'the drain time is over', { running: activeRequests.running })
    gateway.drain()
    await withTimeout(gracePeriod, (signal) => activeRequests.waitUntilIdle(signal))
  }
  server.closeAllConnections()
  await closed
  return closeGateway(gateway, Math.max(0, end - performance.now()))
}

/** Closes the gateway; true when it has saved everything. */
async function closeGateway(gateway: HostedGateway, time: number): Promise<boolean> {
  const { log } = gateway
  try {
    const unsaved = await withTimeout(time + closeMargin, () => gateway.close(time))
    if (unsaved) return unsaved.rows === 0 && unsaved.spend === 0
    log.write('error', 'the gateway did not close in time')
  } catch (error) {
    log.write('error', 'the gateway failed to close', errorFields(error))
  }
  return false
}

/** A gateway ends in its time, or a moment later. */
const closeMargin = 500

/** Waits for `work`, at most `time`. Undefined when it was not done in time. */
async function withTimeout<Result>(
  time: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | undefined> {
  const limit = new AbortController()
  const timeout = new Promise<undefined>((resolve) => {
    limit.signal.addEventListener('abort', () => resolve(undefined))
  })
  const timer = setTimeout(() => limit.abort(), time)
  try {
    return await Promise.race([work(limit.signal), timeout])
  } finally {
    clearTimeout(timer)
  }
}
