import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { ActiveRequests } from './active-requests.ts'
import type { AddressLimit } from './address-limit.ts'
import type { HostLimits } from './limits.ts'
import { PipelineQueue } from './pipeline-queue.ts'
import { extractPath } from './request-head.ts'
import type { Warn } from './warn-per-burst.ts'

export interface ConnectionLimits {
  readonly activeRequests: ActiveRequests
  readonly limits: Pick<HostLimits, 'maxConnections' | 'healthConnections'>
  /** Undefined when the connections have been limited before. */
  readonly addresses: AddressLimit | undefined
  readonly warn: Warn
}

/**
 * Limits the connections of a server. At the limit, a new connection replaces the one that has been idle
 * longest. When every connection has a request, a few more are accepted for requests to `/health`.
 * Node's own `maxConnections` makes neither distinction.
 */
export function limitConnections(server: Server, options: ConnectionLimits): void {
  const { activeRequests, limits, addresses, warn } = options
  const { maxConnections, healthConnections } = limits
  server.on('connection', (socket) => {
    if (addresses) {
      const address = socket.remoteAddress ?? ''
      if (!addresses.enter(address)) return void socket.destroy()
      socket.once('close', () => addresses.leave(address))
    }
    const isFull = activeRequests.connections >= maxConnections + healthConnections
    if (isFull && !closeLongestIdle(options)) {
      warn('connection limit reached, closing the new connection', { maxConnections })
      return void socket.destroy()
    }
    activeRequests.addConnection(socket)
    socket.once('close', () => activeRequests.removeConnection(socket))
  })
}

/** Wraps a listener so that it serves requests up to the limit and closes the connections of the rest. */
export function limitRequests(
  listen: RequestListener,
  { activeRequests, limits, warn }: ConnectionLimits,
): RequestListener {
  const { maxConnections } = limits
  return (request, response) => {
    const isFull =
      activeRequests.running >= maxConnections && !PipelineQueue.running(request.socket)
    if (!isFull || isHealthCheck(request)) return listen(request, response)
    warn('connection limit reached, closing the new connection', { maxConnections })
    request.socket.destroy()
  }
}

/** Closes the connection that has been idle longest. Returns false when every one has a request. */
function closeLongestIdle({ activeRequests, limits, warn }: ConnectionLimits): boolean {
  const socket = activeRequests.longestIdle
  if (!socket) return false
  const { maxConnections } = limits
  warn('connection limit reached, closing idle connections', { maxConnections })
  // The close event comes later, perhaps after the next connection.
  activeRequests.removeConnection(socket)
  socket.destroy()
  return true
}

function isHealthCheck({ url = '' }: IncomingMessage): boolean {
  return /^\/health(?:[/?]|$)/.test(extractPath(url) ?? '')
}
