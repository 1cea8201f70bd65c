import type { AddressInfo, Server } from 'node:net'
import { CommandFailure } from '../failures/command-failure.ts'

export interface ListenPlace {
  readonly host: string
  readonly port: number
}

/** Opens a port. Rejects when that fails, for example with `EADDRINUSE`. */
export function listen(server: Server, { host, port }: ListenPlace): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, backlog: 1024 }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/** Returns the address of a listening server: `http://127.0.0.1:8080`. */
export function formatAddress(server: Server): string {
  // A server that listens on TCP has an address of this form.
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** Says why a port cannot be opened. */
export function toListenFailure(error: unknown, { host, port }: ListenPlace): CommandFailure {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException
  return new CommandFailure(1, `cannot listen on ${host}:${port}: ${reasons[code] ?? code}`)
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use; stop the other process or change server.port',
  EADDRNOTAVAIL: 'this machine does not have that address; check server.host',
  EACCES: 'permission denied; ports below 1024 usually require root',
  ENOTFOUND: 'the host name cannot be resolved; check server.host',
}
