import type { Duplex } from 'node:stream'

/** A request that waits for its turn, runs, and ends. */
export interface PipelinedRequest {
  /** It has been read to its end, so what comes next on the connection is another one. */
  readonly isRead: boolean
  /** The answer has begun. */
  readonly isAnswered: boolean
  /** Begins; calls `done` once, when the answer is out or the connection has closed. */
  start(done: () => void): void
  /** The time in which it must arrive is over. True when the gateway itself has kept it waiting. */
  postponeTimeout(): boolean
  /** The connection has closed. */
  abandon(): void
}

const queues = new WeakMap<Duplex, PipelineQueue>()

/**
 * The requests of one connection, one after the other. Node and the adapter would start everything
 * that a client pipelines at once, thousands if need be.
 */
export class PipelineQueue {
  readonly #socket: Duplex
  readonly #maxWaiting: number
  readonly #waiting: PipelinedRequest[] = []
  #running: PipelinedRequest | undefined

  /** The turns of a connection; the first caller sets how many may wait. */
  static forSocket(socket: Duplex, maxWaiting: number): PipelineQueue {
    let turns = queues.get(socket)
    if (!turns) {
      turns = new PipelineQueue(socket, maxWaiting)
      queues.set(socket, turns)
    }
    return turns
  }

  /** The request that is being served on a connection. */
  static running(socket: Duplex): PipelinedRequest | undefined {
    const turns = queues.get(socket)
    return turns && turns.#running
  }

  private constructor(socket: Duplex, maxWaiting: number) {
    this.#socket = socket
    this.#maxWaiting = maxWaiting
    // Node tells an answer of it only when its turn on the wire has come, which in front of other
    // listeners may be later.
    socket.once('close', () => this.#running?.abandon())
  }

  /** Runs the request when those before it are done; closes the connection if too many wait. */
  enqueue(turn: PipelinedRequest): void {
    if (!this.#running) this.#run(turn)
    else if (this.#waiting.length < this.#maxWaiting) this.#waiting.push(turn)
    else this.#socket.destroy()
  }

  #run(turn: PipelinedRequest): void {
    this.#running = turn
    turn.start(() => this.#next())
  }

  #next(): void {
    this.#running = undefined
    const next = this.#socket.destroyed ? undefined : this.#waiting.shift()
    if (next) this.#run(next)
  }
}
