import type { LookupFunction, Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import { buildConnector } from 'undici'
import { UpstreamFault } from '../../../src/core/failure.ts'
import { type Millis, maxTimerDelay } from '../../../src/core/ids.ts'
import { toUpstreamFault } from './errors.ts'

/**
 * Opens a socket, including TLS. Calls `callback` with the connected socket or the error. Destroying the
 * returned socket earlier cancels the attempt, and `callback` may then not be called.
 */
export type Connector = (
  options: buildConnector.Options,
  callback: buildConnector.Callback,
) => Socket

export interface ConnectorOptions {
  /** The certificate authorities to trust. Default: those of the host. */
  readonly secureContext?: SecureContext
  /** Resolves host names. Default: the resolver of the system. */
  readonly lookup?: LookupFunction
}

/** Creates a connector that opens sockets directly to the upstream. It resumes TLS sessions. */
export function createDirectConnector(options: ConnectorOptions = {}): Connector {
  // `timeout: 0`, because undici's timer is up to a second late. The connector returns the socket,
  // which its type omits.
  return buildConnector({ ...options, timeout: 0, allowH2: false }) as unknown as Connector
}

export interface ConnectOptions {
  readonly connector: Connector
  readonly options: buildConnector.Options
  /** In milliseconds, for all steps: the proxy, its tunnel, and TLS. */
  readonly timeout: Millis
  readonly callback: buildConnector.Callback
}

/** Opens a socket within a timeout. Every error reaches `callback` as an `UpstreamFault`. */
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
