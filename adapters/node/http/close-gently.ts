import type { Duplex } from 'node:stream'

/** How long a client may read the last response before the connection closes, in milliseconds. */
const lingerTime = 1_000

/**
 * Closes a connection, after `last` if that is given. Closing at once while bytes still arrive would reset the
 * connection and lose the response.
 */
export function closeGently(socket: Duplex, last = ''): void {
  socket.end(last)
  setTimeout(() => socket.destroy(), lingerTime).unref()
}
