import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ActiveRequests } from './http/active-requests.ts'
import { handleClientErrors } from './http/client-errors.ts'
import { limitConnections, limitRequests } from './http/connections.ts'
import { type HostLimits, hostLimits } from './http/limits.ts'
import { createListener } from './http/listener.ts'
import { watchOpenFiles } from './http/open-files.ts'
import type { HostedGateway } from './http/served-request.ts'
import { type Warn, warnPerBurst } from './http/warn-per-burst.ts'
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
  const activeRequests = new ActiveRequests()
  const warn = warnPerBurst(gateway.log)
  const server = createHost({ gateway, limits, activeRequests, warn })
  await listen(server, host, port)
  watchOpenFiles(server, warn)
  server.on('error', ({ code }: NodeJS.ErrnoException) =>
    warn('a connection cannot be accepted', { code }),
  )
  let isSaved = true
  let closing: Promise<void> | undefined
  return {
    address: formatAddress(server),
    get running() {
      return activeRequests.running
    },
    close() {
      closing ??= shutDown({ server, activeRequests, gateway, times: shutdown }).then((isDone) => {
        isSaved = isDone
      })
      return closing
    },
    get isSaved() {
      return isSaved
    },
  }
}

interface HostOptions {
  readonly gateway: HostedGateway
  readonly limits: HostLimits
  readonly activeRequests: ActiveRequests
  readonly warn: Warn
}

function createHost({ gateway, limits, activeRequests, warn }: HostOptions): Server {
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
  const bounds = { activeRequests, limits, maxPerAddress, warn }
  limitConnections(server, bounds)
  const createListenerFor = (expectsContinue: boolean) =>
    limitRequests(
      createListener({ gateway, limits, activeRequests, expectsContinue, base: '' }),
      bounds,
    )
  server.on('request', createListenerFor(false))
  handleClientErrors(server, { gateway, listen: createListenerFor(true) })
  return server
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, backlog: 1024 }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function formatAddress(server: Server): string {
  // A server that listens on TCP has an address of this form.
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
