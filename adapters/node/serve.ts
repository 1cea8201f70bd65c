import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ActiveRequests } from './http/active-requests.ts'
import { answerClientErrors } from './http/client-errors.ts'
import { boundConnections, whileThereIsRoom } from './http/connections.ts'
import { type HostLimits, hostLimits } from './http/limits.ts'
import { listenerOf } from './http/listener.ts'
import { watchOpenFiles } from './http/open-files.ts'
import type { HostedGateway } from './http/served-request.ts'
import { type Warn, waveWarnings } from './http/waves.ts'
import { type ShutdownTimes, shutDown } from './shutdown.ts'

export interface ServeOptions {
  /** The address to bind; the configured one by default. */
  readonly host?: string | undefined
  /** 0 takes a free port; the configured one by default. */
  readonly port?: number | undefined
  readonly limits?: Partial<HostLimits> | undefined
  readonly shutdown?: Partial<ShutdownTimes> | undefined
}

/** A gateway that is listening. */
export interface Serving {
  /** Where it can be reached: `http://127.0.0.1:8080`. */
  readonly address: string
  /** Requests whose answers are not out yet. */
  readonly running: number
  /**
   * Stops accepting, lets what runs come to its end within the drain time, then ends it, and closes
   * the gateway. Never rejects.
   */
  close(): Promise<void>
  /** False when a close could not save everything. */
  readonly isSaved: boolean
}

/** Serves a gateway over HTTP. Rejects when it cannot listen, for example with `EADDRINUSE`. */
export async function serve(gateway: HostedGateway, options: ServeOptions = {}): Promise<Serving> {
  const { host = gateway.settings.host, port = gateway.settings.port, shutdown } = options
  const limits = { ...hostLimits, ...options.limits }
  const traffic = new ActiveRequests()
  const warn = waveWarnings(gateway.log)
  const server = createHost({ gateway, limits, traffic, warn })
  await listening(server, host, port)
  watchOpenFiles(server, warn)
  server.on('error', ({ code }: NodeJS.ErrnoException) =>
    warn('a connection cannot be accepted', { code }),
  )
  let isSaved = true
  let closing: Promise<void> | undefined
  return {
    address: addressOf(server),
    get running() {
      return traffic.running
    },
    close() {
      closing ??= shutDown({ server, traffic, gateway, times: shutdown }).then((isDone) => {
        isSaved = isDone
      })
      return closing
    },
    get isSaved() {
      return isSaved
    },
  }
}

interface Parts {
  readonly gateway: HostedGateway
  readonly limits: HostLimits
  readonly traffic: ActiveRequests
  readonly warn: Warn
}

function createHost({ gateway, limits, traffic, warn }: Parts): Server {
  const { headersTimeout, requestTimeout, connectionsCheckingInterval, keepAliveTimeout } = limits
  const server = createServer({
    headersTimeout,
    requestTimeout,
    connectionsCheckingInterval,
    keepAliveTimeout,
    maxHeaderSize: limits.maxHeaderSize,
    // Looked at by the gateway itself, for an answer in its own form.
    requireHostHeader: false,
  })
  const maxPerAddress = () => gateway.settings.maxConnectionsPerAddress
  const bounds = { traffic, limits, maxPerAddress, warn }
  boundConnections(server, bounds)
  const listen = (waitsForGoAhead: boolean) =>
    whileThereIsRoom(listenerOf({ gateway, limits, traffic, waitsForGoAhead, base: '' }), bounds)
  server.on('request', listen(false))
  answerClientErrors(server, { gateway, listen: listen(true) })
  return server
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, backlog: 1024 }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function addressOf(server: Server): string {
  // A server that listens on TCP has an address of this form.
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
