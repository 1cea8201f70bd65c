import type { IncomingMessage } from 'node:http'
import type { HostLimits } from './limits.ts'

/**
 * Reads and drops the rest of the body of a request that has its response: some clients read the response
 * only after they have sent everything, and the connection stays usable. Beyond the limits it closes the
 * connection; the adapter would read without a limit.
 */
export function discardUnreadBody(request: IncomingMessage, limits: HostLimits): void {
  if (request.complete || request.destroyed) return
  // A reader that stopped half-way leaves listeners, which would keep or block the bytes.
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
