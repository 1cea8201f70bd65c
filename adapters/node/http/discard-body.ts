import type { IncomingMessage } from 'node:http'
import type { HostLimits } from './limits.ts'

/**
 * Reads and drops what still comes of a request that is answered already, since a client may read
 * the answer only when it has sent everything, and the connection can serve on. Past the limits it
 * is closed; the adapter would read on without a limit.
 */
export function discardUnreadBody(request: IncomingMessage, limits: HostLimits): void {
  if (request.complete || request.destroyed) return
  // A reader that stopped half-way has left listeners, which would keep the bytes or hold them up.
  request.removeAllListeners('data')
  request.removeAllListeners('readable')
  let left = limits.discardSize
  request.on('data', (bytes: Uint8Array) => {
    left -= bytes.length
    if (left < 0) request.socket.destroy()
  })
  request.resume()
  const timer = setTimeout(() => request.socket.destroy(), limits.discardTime).unref()
  request.once('close', () => clearTimeout(timer))
}
