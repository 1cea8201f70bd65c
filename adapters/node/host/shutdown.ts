import type { Server } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { errorFields } from '../../../src/core/error-fields.ts'
import type { ActiveRequests } from '../http/active-requests.ts'
import type { HostedGateway } from '../http/served-request.ts'

/** Maximum durations of the stages of a shutdown, in milliseconds. */
export interface ShutdownTimes {
  /**
   * For load balancers to notice that the gateway is not ready. New connections are still accepted.
   * Default: `server.drain_delay_ms` of the configuration.
   */
  readonly drainDelay: number
  /** For running requests to finish, streams included. */
  readonly drain: number
  /** For the terminal frames of requests that the shutdown has ended. Counts towards `flush`. */
  readonly gracePeriod: number
  /** For the gateway to save usage and spend. */
  readonly flush: number
}

/** The other defaults. Their sum, plus the exit of the process, stays below 35 s. */
const shutdownTimes: Omit<ShutdownTimes, 'drainDelay'> = Object.freeze({
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
 * Stops a host: waits for load balancers, refuses new connections, drains, ends the requests that still
 * run, and flushes.
 * Resolves to true when everything was saved.
 */
export async function shutDown({
  server,
  activeRequests,
  gateway,
  times,
}: ShutdownOptions): Promise<boolean> {
  const { log, settings } = gateway
  const { drainDelay, drain, gracePeriod, flush } = {
    drainDelay: settings.drainDelay,
    ...shutdownTimes,
    ...times,
  }
  gateway.startDraining()
  activeRequests.startDraining()
  if (drainDelay > 0) {
    log.write('info', 'draining, still accepting connections', {
      running: activeRequests.running,
      delay_ms: drainDelay,
    })
    await wait(drainDelay)
  }
  log.write('info', 'shutting down', { running: activeRequests.running })
  const closed = new Promise((resolve) => {
    server.close(resolve)
  })

  await withTimeout(drain, (signal) => activeRequests.waitUntilIdle(signal))
  const end = performance.now() + flush
  if (activeRequests.running > 0) {
    log.write('warn', 'drain time is over, ending the running requests', {
      running: activeRequests.running,
    })
    gateway.drain()
    await withTimeout(gracePeriod, (signal) => activeRequests.waitUntilIdle(signal))
  }
  server.closeAllConnections()
  await closed
  return closeGateway(gateway, Math.max(0, end - performance.now()))
}

/** Closes the gateway. Resolves to true when it has saved everything. */
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

/** How much longer than its time limit a gateway may take to close, in milliseconds. */
const closeMargin = 500

/** Waits for `work`, at most `time` milliseconds. Resolves to undefined after that. */
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
