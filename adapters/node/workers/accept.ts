import type { Server } from 'node:http'
import type { Channel } from './channel.ts'
import type { FromPrimary, FromWorker } from './messages.ts'

/** Lets the connections that the primary process hands over into a server without a port of its own. */
export function acceptConnections(server: Server, channel: Channel<FromWorker, FromPrimary>): void {
  let isClosed = false
  // Node enforces the timeouts of requests from this event on.
  server.emit('listening')
  server.once('close', () => {
    isClosed = true
    channel.notify('stopped', undefined)
  })
  channel.onNotice('connection', (id, socket) => {
    channel.notify('taken', id)
    const forget = () => channel.notify('closed', id)
    // A socket may be lost on the way.
    if (!socket) return forget()
    socket.once('close', forget)
    if (isClosed) return void socket.destroy()
    // The settings that a server of HTTP gives to the connections of its own port.
    socket.allowHalfOpen = true
    socket.setNoDelay(true)
    server.emit('connection', socket)
  })
}
