import type { Duplex } from 'node:stream'
import { closeGently } from './close-gently.ts'

/** A request of a connection, as its queue sees it. */
export interface PipelinedRequest {
  /** The request has arrived completely, so the next bytes on the connection belong to another one. */
  readonly isRead: boolean
  /** The response has begun. */
  readonly isAnswered: boolean
  /** Serves the request; calls `done` once, when the response is sent or the connection has closed. */
  start(done: () => void): void
  /** Called at Node's request timeout. Returns true, and extends the time, if the gateway caused the wait. */
  postponeTimeout(): boolean
  /** Says in the response that the connection closes after it, unless the response has begun. */
  announceClose(): void
  /** Ends the request because the connection has closed. */
  abandon(): void
}

const queues = new WeakMap<Duplex, PipelineQueue>()

/**
 * Serves the requests of one connection one by one. Node and the adapter would start all pipelined
 * requests at once, even thousands of them.
 */
export class PipelineQueue {
  readonly #socket: Duplex
  readonly #maxWaiting: number
  readonly #waiting: PipelinedRequest[] = []
  #running: PipelinedRequest | undefined
  #isEnding = false

  /** Returns the queue of a connection. The first call sets `maxWaiting`. */
  static forSocket(socket: Duplex, maxWaiting: number): PipelineQueue {
    let queue = queues.get(socket)
    if (!queue) {
      queue = new PipelineQueue(socket, maxWaiting)
      queues.set(socket, queue)
    }
    return queue
  }

  /** Returns the request that runs on a connection. */
  static running(socket: Duplex): PipelinedRequest | undefined {
    const queue = queues.get(socket)
    return queue && queue.#running
  }

  /**
   * Closes a connection after the responses to the requests that have arrived completely, because what
   * follows them cannot be read.
   */
  static endAfterResponses(socket: Duplex): void {
    const queue = queues.get(socket)
    if (queue) queue.#end()
  }

  private constructor(socket: Duplex, maxWaiting: number) {
    this.#socket = socket
    this.#maxWaiting = maxWaiting
    // Node closes only the response that is being written; under a foreign server that may be an
    // earlier one than ours.
    socket.once('close', () => this.#running?.abandon())
  }

  /** Runs the request after those before it. Closes the connection if too many wait. */
  enqueue(request: PipelinedRequest): void {
    if (this.#isEnding) return
    if (!this.#running) this.#run(request)
    else if (this.#waiting.length < this.#maxWaiting) this.#waiting.push(request)
    else this.#socket.destroy()
  }

  #run(request: PipelinedRequest): void {
    this.#running = request
    request.start(() => this.#next())
  }

  #next(): void {
    this.#running = undefined
    const next = this.#socket.destroyed ? undefined : this.#waiting.shift()
    if (next) this.#run(next)
    else if (this.#isEnding) closeGently(this.#socket)
  }

  #end(): void {
    this.#isEnding = true
    // The rest of its body cannot be read.
    if (this.#waiting.at(-1)?.isRead === false) this.#waiting.pop()
    const last = this.#waiting.at(-1) ?? this.#running
    if (last) last.announceClose()
    else closeGently(this.#socket)
  }
}
