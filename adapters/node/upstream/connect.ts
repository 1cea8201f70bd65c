import type { LookupFunction, Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import { buildConnector } from 'undici'
import { UpstreamFault } from '../../../src/core/failure.ts'
import { type Millis, maxTimerDelay } from '../../../src/core/ids.ts'
import { toUpstreamFault } from './errors.ts'

/**
 * Opens a socket, TLS included. `callback` gets it when it is connected, or the error; destroying
 * the returned socket before gives up, and `callback` may not be called at all.
 */
export type Connector = (
  options: buildConnector.Options,
  callback: buildConnector.Callback,
) => Socket

export interface ConnectorOptions {
  /** What to trust, where it is not what the host trusts. */
  readonly secureContext?: SecureContext
  /** What a name resolves to, where that is not for the system to say. */
  readonly lookup?: LookupFunction
}

/** Makes an opener of sockets that lead to the upstream itself. It resumes TLS sessions. */
export function createDirectConnector(options: ConnectorOptions = {}): Connector {
  // undici's own timer is up to a second late, hence `timeout: 0`. It does return the socket, which
  // its declaration leaves out.
  return buildConnector({ ...options, timeout: 0, allowH2: false }) as unknown as Connector
}

export interface ConnectOptions {
  readonly connector: Connector
  readonly options: buildConnector.Options
  /** For the whole way: to a proxy, its tunnel, TLS. */
  readonly timeout: Millis
  readonly callback: buildConnector.Callback
}

/** Opens a socket in time. `callback` gets every error as an `UpstreamFault`. */
export function connect({ connector, options, timeout, callback }: ConnectOptions): Socket {
  let isOver = false
  const settle: buildConnector.Callback = (...[error, connected]) => {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    if (error) callback(toUpstreamFault(error, 'connecting'), null)
    else callback(null, connected)
  }
  const socket = connector(options, settle)
  const giveUp = () => {
    settle(new UpstreamFault({ kind: 'timeout', limit: 'connect' }), null)
    socket.destroy()
  }
  const timer = setTimeout(giveUp, Math.min(timeout, maxTimerDelay)).unref()
  return socket.once('close', () => clearTimeout(timer))
}
