import type { Server } from 'node:http'
import type { HostedGateway } from './http/client-exchange.ts'
import type { Traffic } from './http/traffic.ts'

/** How long the stages of a shutdown may take, in milliseconds. */
export interface ShutdownTimes {
  /** For requests to come to their own end, streams included. */
  readonly drain: number
  /** For the terminal frames of what had to be ended to leave. */
  readonly farewell: number
  /** For the gateway to write out what it holds. */
  readonly flush: number
}

export const shutdownTimes: ShutdownTimes = Object.freeze({
  drain: 30_000,
  farewell: 1_000,
  flush: 5_000,
})

interface Shutdown {
  readonly server: Server
  readonly traffic: Traffic
  readonly gateway: HostedGateway
  readonly times?: Partial<ShutdownTimes> | undefined
}

/** Stops a host: no new connections, a time to drain, an end for what still runs, the flush. */
export async function shutDown({ server, traffic, gateway, times }: Shutdown): Promise<void> {
  const { drain, farewell, flush } = { ...shutdownTimes, ...times }
  const { log } = gateway
  log.write('info', 'shutting down', { running: traffic.running })
  traffic.drain()
  const closed = new Promise((resolve) => {
    server.close(resolve)
  })

  await within(drain, (signal) => traffic.idle(signal))
  if (traffic.running > 0) {
    log.write('warn', 'the drain time is over', { running: traffic.running })
    gateway.drain()
    await within(farewell, (signal) => traffic.idle(signal))
  }
  server.closeAllConnections()
  await closed

  const isFlushed = await within(flush, () => gateway.close()).catch(() => false)
  if (!isFlushed) log.write('error', 'the gateway could not write out everything')
}

/** Waits for `work`, at most `time`. True when the work was done in time. */
async function within(
  time: number,
  work: (signal: AbortSignal) => Promise<unknown>,
): Promise<boolean> {
  const limit = new AbortController()
  const timeout = new Promise<false>((resolve) => {
    limit.signal.addEventListener('abort', () => resolve(false))
  })
  const timer = setTimeout(() => limit.abort(), time)
  try {
    return await Promise.race([work(limit.signal).then(() => true), timeout])
  } finally {
    clearTimeout(timer)
  }
}
