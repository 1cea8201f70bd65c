import type { Socket } from 'node:net'
import { buildConnector } from 'undici'
import type { Millis } from '../../../src/core/ids.ts'
import { longestDelay } from '../ports/clock.ts'

/** The address was not reached, or its TLS handshake not done, within the connect timeout. */
export class ConnectTimeout extends Error {
  override readonly name = 'ConnectTimeout'
}

type Opener = (options: buildConnector.Options, callback: buildConnector.Callback) => Socket

// undici's own timer is up to a second late, hence `timeout: 0`. It does return the socket, which
// its declaration leaves out. Being shared, it resumes TLS sessions across connections.
const open = buildConnector({ timeout: 0, allowH2: false }) as unknown as Opener

export interface Connecting {
  readonly options: buildConnector.Options
  readonly timeout: Millis
  readonly callback: buildConnector.Callback
}

/**
 * Opens a socket, TLS included. `callback` gets it when it is connected, or the error; destroying
 * the returned socket before gives up without a word.
 */
export function connect({ options, timeout, callback }: Connecting): Socket {
  const settle: buildConnector.Callback = (...outcome) => {
    clearTimeout(timer)
    callback(...outcome)
  }
  const socket = open(options, settle)
  const giveUp = () => socket.destroy(new ConnectTimeout('connect timeout'))
  const timer = setTimeout(giveUp, Math.min(timeout, longestDelay)).unref()
  return socket.once('close', () => clearTimeout(timer))
}
