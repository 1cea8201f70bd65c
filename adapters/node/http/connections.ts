import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { ActiveRequests } from './active-requests.ts'
import type { HostLimits } from './limits.ts'
import { PipelineQueue } from './pipeline-queue.ts'
import { extractPath } from './request-head.ts'
import type { Warn } from './warn-per-burst.ts'

export interface ConnectionOptions {
  readonly activeRequests: ActiveRequests
  readonly limits: Pick<HostLimits, 'maxConnections' | 'healthConnections'>
  /** Maximum number of connections per client address; 0 means no limit. */
  readonly maxPerAddress: () => number
  readonly warn: Warn
}

/**
 * Limits the connections of a server. At the limit, a new connection replaces the one that has been idle
 * longest. When every connection has a request, a few more are accepted for requests to `/health`.
 * Node's own `maxConnections` makes neither distinction.
 */
export function limitConnections(server: Server, options: ConnectionOptions): void {
  const { activeRequests, limits, warn } = options
  const { maxConnections, healthConnections } = limits
  const isWithin = limitPerAddress(options)
  server.on('connection', (socket) => {
    if (!isWithin(socket)) return void socket.destroy()
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
  { activeRequests, limits, warn }: ConnectionOptions,
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
function closeLongestIdle({ activeRequests, limits, warn }: ConnectionOptions): boolean {
  const socket = activeRequests.longestIdle
  if (!socket) return false
  const { maxConnections } = limits
  warn('connection limit reached, closing idle connections', { maxConnections })
  // The close event comes later, perhaps after the next connection.
  activeRequests.removeConnection(socket)
  socket.destroy()
  return true
}

/** Returns a check that counts the connections of each address and applies the limit. */
function limitPerAddress({ maxPerAddress, warn }: ConnectionOptions): (socket: Socket) => boolean {
  const counts = new Map<string, number>()
  return (socket) => {
    const address = socket.remoteAddress ?? ''
    const count = (counts.get(address) ?? 0) + 1
    const max = maxPerAddress()
    if (max > 0 && count > max) {
      warn('connection limit of one address reached, closing the new connection', {
        address,
        maxPerAddress: max,
      })
      return false
    }
    counts.set(address, count)
    socket.once('close', () => {
      const left = (counts.get(address) ?? 0) - 1
      if (left > 0) counts.set(address, left)
      else counts.delete(address)
    })
    return true
  }
}

function isHealthCheck({ url = '' }: IncomingMessage): boolean {
  return /^\/health(?:[/?]|$)/.test(extractPath(url) ?? '')
}
