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
  /** Connections that one address may have at a time; 0 is without a limit. */
  readonly maxPerAddress: () => number
  readonly warn: Warn
}

/**
 * Bounds the connections of a server. While one of them is idle, a new one gets its place. While all
 * of them have a request, there are a few places more, for requests to `/health` only. Node
 * and the adapter do not distinguish requests in this way.
 */
export function limitConnections(server: Server, options: ConnectionOptions): void {
  const { activeRequests, limits, warn } = options
  const { maxConnections, healthConnections } = limits
  const isWithin = limitPerAddress(options)
  server.on('connection', (socket) => {
    if (!isWithin(socket)) return void socket.destroy()
    const isFull = activeRequests.connections >= maxConnections + healthConnections
    if (isFull && !closeLongestIdle(options)) {
      warn('too many connections', { maxConnections })
      return void socket.destroy()
    }
    activeRequests.addConnection(socket)
    socket.once('close', () => activeRequests.removeConnection(socket))
  })
}

/** Serves requests while there are places for them; closes the connections of all others. */
export function limitRequests(
  listen: RequestListener,
  { activeRequests, limits, warn }: ConnectionOptions,
): RequestListener {
  const { maxConnections } = limits
  return (request, response) => {
    const isFull =
      activeRequests.running >= maxConnections && !PipelineQueue.running(request.socket)
    if (!isFull || isHealthCheck(request)) return listen(request, response)
    warn('too many connections', { maxConnections })
    request.socket.destroy()
  }
}

/** Makes room for a connection; false when all of them have a request. */
function closeLongestIdle({ activeRequests, limits, warn }: ConnectionOptions): boolean {
  const socket = activeRequests.longestIdle
  if (!socket) return false
  const { maxConnections } = limits
  warn('too many connections: those that are idle are closed for new ones', { maxConnections })
  // Its close is reported later, and the next connection may come before that.
  activeRequests.removeConnection(socket)
  socket.destroy()
  return true
}

/** Counts the connections of each address. */
function limitPerAddress({ maxPerAddress, warn }: ConnectionOptions): (socket: Socket) => boolean {
  const counts = new Map<string, number>()
  return (socket) => {
    const address = socket.remoteAddress ?? ''
    const count = (counts.get(address) ?? 0) + 1
    const max = maxPerAddress()
    if (max > 0 && count > max) {
      warn('too many connections of one address', { address, maxPerAddress: max })
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
