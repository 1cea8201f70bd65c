import { EventEmitter, once } from 'node:events'
import type { Socket } from 'node:net'

/**
 * How many requests a host is serving, over which connections, and whether it is about to stop. The
 * adapter sees one request at a time.
 */
export class ActiveRequests {
  readonly #events = new EventEmitter()
  readonly #open = new Set<Socket>()
  /** Open connections without a request, the longest idle first. */
  readonly #idle = new Set<Socket>()
  #running = 0
  #draining = false

  /** Requests whose answers are not out yet. */
  get running(): number {
    return this.#running
  }

  /** Connections that were opened here and have not closed. */
  get connections(): number {
    return this.#open.size
  }

  /** The connection that has been without a request for the longest time. */
  get longestIdle(): Socket | undefined {
    const [first] = this.#idle
    return first
  }

  /** Answers now tell clients to close their connections. */
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

  /** A request has begun; a connection has one at a time. */
  startRequest(socket: Socket): void {
    this.#running++
    this.#idle.delete(socket)
  }

  /** The request has ended, or its connection has closed. */
  endRequest(socket: Socket): void {
    this.#running--
    if (this.#open.has(socket)) this.#idle.add(socket)
    if (this.#running === 0 && this.#draining) this.#events.emit('idle')
  }

  /** Resolves when nothing is running, or when `signal` aborts. Only while draining. */
  async waitUntilIdle(signal: AbortSignal): Promise<void> {
    if (this.#running === 0 || signal.aborted) return
    await once(this.#events, 'idle', { signal }).catch(() => {})
  }
}
