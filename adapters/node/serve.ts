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
  /** The host to bind. Default: `server.host` of the configuration. */
  readonly host?: string | undefined
  /** The port to bind; 0 picks a free one. Default: `server.port` of the configuration. */
  readonly port?: number | undefined
  /** Limits that differ from the defaults. */
  readonly limits?: Partial<HostLimits> | undefined
  /** Durations of the shutdown stages that differ from the defaults. */
  readonly shutdown?: Partial<ShutdownTimes> | undefined
}

/** A gateway that is listening. */
export interface Serving {
  /** The address of the server, for example `http://127.0.0.1:8080`. */
  readonly address: string
  /** Number of requests whose responses are not fully sent. */
  readonly running: number
  /**
   * Makes the gateway not ready, and after the drain delay stops accepting connections. Lets running
   * requests finish within the drain time, ends the rest, and closes the gateway. Never rejects.
   */
  close(): Promise<void>
  /** False when `close` could not save all usage and spend. */
  readonly isSaved: boolean
}

/**
 * Serves a gateway over HTTP. Rejects when it cannot listen, for example with `EADDRINUSE`.
 *
 * @example
 * import { createGateway } from 'model-gateway'
 * import { nodePorts, serve } from 'model-gateway/node'
 *
 * const ports = nodePorts()
 * const config = '[[providers]]\nname = "demo"\nkind = "demo"\nmodels = [{ id = "demo" }]'
 * const gateway = await createGateway({ ...ports, config })
 * const serving = await serve(gateway, { host: '127.0.0.1', port: 0 })
 * console.log(`listening on ${serving.address}`)
 * await serving.close()
 * await ports.close()
 */
export async function serve(gateway: HostedGateway, options: ServeOptions = {}): Promise<Serving> {
  const { host = gateway.settings.host, port = gateway.settings.port, shutdown } = options
  const limits = { ...hostLimits, ...options.limits }
  const activeRequests = new ActiveRequests()
  const warn = warnPerBurst(gateway.log)
  const server = createHost({ gateway, limits, activeRequests, warn })
  await listen(server, host, port)
  watchOpenFiles(server, warn)
  server.on('error', ({ code }: NodeJS.ErrnoException) =>
    warn('failed to accept a connection', { code }),
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
    // The gateway checks the Host header itself and responds in its own error format.
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
