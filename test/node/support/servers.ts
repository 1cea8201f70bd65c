import { createServer, type RequestListener } from 'node:http'
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net'
import { onTestFinished } from 'vitest'

/** An upstream on 127.0.0.1 that closes after the test. */
export interface TestServer {
  readonly port: number
  readonly url: string
  /** Number of accepted connections. */
  readonly sockets: Socket[]
}

/** Starts an HTTP server with this listener. */
export function httpServer(listener: RequestListener): Promise<TestServer> {
  return started(createServer({ keepAliveTimeout: 60_000 }, listener))
}

/** Starts a TCP server. */
export function tcpServer(listener: (socket: Socket) => void): Promise<TestServer> {
  return started(createTcpServer(listener))
}

/** Listens on a free port of 127.0.0.1 until the test ends. */
export async function started(server: Server): Promise<TestServer> {
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => {
    sockets.push(socket)
    // Tests break connections on purpose.
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  // A server that listens on TCP has an address of this form.
  const { port } = server.address() as AddressInfo
  return { port, url: `http://127.0.0.1:${port}`, sockets }
}

/** Resolves when the peer has closed or reset the connection. */
export function closed(socket: Socket | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (!socket || socket.destroyed) return resolve()
    socket.once('close', () => resolve())
    socket.once('end', () => resolve())
    socket.resume()
  })
}

/** Returns the duration of `work` in milliseconds. */
export async function timed(work: Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work
  return performance.now() - start
}

const tick = 5

/**
 * The same without the time in which the system did not run this process: a timer
 * that fires late measures it.
 */
export async function activeTime(work: Promise<unknown>): Promise<number> {
  const start = performance.now()
  let last = start
  let held = 0
  const look = () => {
    const now = performance.now()
    held += Math.max(0, now - last - 2 * tick)
    last = now
  }
  const looking = setInterval(look, tick)
  await work.finally(() => clearInterval(looking))
  look()
  return last - start - held
}

export interface Deferred<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
}

/** Returns a promise with its resolve function. */
export function deferred<T = void>(): Deferred<T> {
  const settlers: ((value: T) => void)[] = []
  const promise = new Promise<T>((resolve) => {
    settlers.push(resolve)
  })
  return { promise, resolve: (value) => settlers.pop()?.(value) }
}
