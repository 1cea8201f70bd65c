import { createServer, type Server } from 'node:http'
import { ActiveRequests } from '../http/active-requests.ts'
import { AddressLimit } from '../http/address-limit.ts'
import { handleClientErrors } from '../http/client-errors.ts'
import { limitConnections, limitRequests } from '../http/connections.ts'
import { type HostLimits, hostLimits } from '../http/limits.ts'
import { createListener } from '../http/listener.ts'
import { watchOpenFiles } from '../http/open-files.ts'
import type { HostedGateway } from '../http/served-request.ts'
import { type Warn, warnPerBurst } from '../http/warn-per-burst.ts'
import { formatAddress, listen } from './listen.ts'
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
export function serve(gateway: HostedGateway, options: ServeOptions = {}): Promise<Serving> {
  const { host = gateway.settings.host, port = gateway.settings.port, limits, shutdown } = options
  const warn = warnPerBurst(gateway.log)
  const addresses = new AddressLimit({
    maxPerAddress: () => gateway.settings.maxConnectionsPerAddress,
    warn,
  })
  const open = async (server: Server) => {
    await listen(server, { host, port })
    return formatAddress(server)
  }
  return serveOn({ gateway, limits, shutdown, addresses, warn, open })
}

export interface ServeOnOptions extends Pick<ServeOptions, 'limits' | 'shutdown'> {
  readonly gateway: HostedGateway
  /** Undefined when the connections have been limited before. */
  readonly addresses: AddressLimit | undefined
  readonly warn: Warn
  /** Begins to take connections; resolves to the address. */
  readonly open: (server: Server) => Promise<string>
}

/** Serves a gateway on the connections that `open` lets in. */
export async function serveOn(options: ServeOnOptions): Promise<Serving> {
  const { gateway, shutdown, addresses, warn, open } = options
  const limits = { ...hostLimits, ...options.limits }
  const activeRequests = new ActiveRequests()
  const server = createHost({ gateway, limits, activeRequests, addresses, warn })
  const address = await open(server)
  watchOpenFiles(server, warn)
  server.on('error', ({ code }: NodeJS.ErrnoException) =>
    warn('failed to accept a connection', { code }),
  )
  let isSaved = true
  let closing: Promise<void> | undefined
  return {
    address,
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

interface HostOptions extends Pick<ServeOnOptions, 'gateway' | 'addresses' | 'warn'> {
  readonly limits: HostLimits
  readonly activeRequests: ActiveRequests
}

function createHost(options: HostOptions): Server {
  const { gateway, limits, activeRequests, addresses, warn } = options
  const { headersTimeout, requestTimeout, connectionsCheckingInterval, keepAliveTimeout } = limits
  const server = createServer({
    headersTimeout,
    requestTimeout,
    connectionsCheckingInterval,
    keepAliveTimeout,
    maxHeaderSize: limits.maxHeaderSize,
    // A NAT would forget the connection of a client that waits for a long answer.
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
    // The gateway checks the Host header itself and responds in its own error format.
    requireHostHeader: false,
  })
  const bounds = { activeRequests, limits, addresses, warn }
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
