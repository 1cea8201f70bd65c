import { EventEmitter, once } from 'node:events'
import type { Socket } from 'node:net'

/** Counts the running requests and open connections of a host. The server adapter has no such count. */
export class ActiveRequests {
  readonly #events = new EventEmitter()
  readonly #open = new Set<Socket>()
  /** Open connections without a request; the one that has been idle longest comes first. */
  readonly #idle = new Set<Socket>()
  #running = 0
  #draining = false

  /** Number of requests whose responses are not fully sent. */
  get running(): number {
    return this.#running
  }

  /** Number of open connections. */
  get connections(): number {
    return this.#open.size
  }

  /** The connection that has been idle longest. */
  get longestIdle(): Socket | undefined {
    const [first] = this.#idle
    return first
  }

  /** True during a shutdown: responses now carry `connection: close`. */
  get isDraining(): boolean {
    return this.#draining
  }

  startDraining(): void {
    this.#draining = true
  }

  addConnection(socket: Socket): void {
    this.#open.add(socket)
    this.#idle.add(socket)
  }

  removeConnection(socket: Socket): void {
    this.#open.delete(socket)
    this.#idle.delete(socket)
  }

  /** Counts a request. A connection runs one at a time. */
  startRequest(socket: Socket): void {
    this.#running++
    this.#idle.delete(socket)
  }

  /** Uncounts a request that has ended or whose connection has closed. */
  endRequest(socket: Socket): void {
    this.#running--
    if (this.#open.has(socket)) this.#idle.add(socket)
    if (this.#running === 0 && this.#draining) this.#events.emit('idle')
  }

  /** Resolves when no request is running or when `signal` aborts. Call `startDraining` first. */
  async waitUntilIdle(signal: AbortSignal): Promise<void> {
    if (this.#running === 0 || signal.aborted) return
    await once(this.#events, 'idle', { signal }).catch(() => {})
  }
}
