import { EventEmitter, once } from 'node:events'

/** How many requests a host is serving, and whether it is about to stop. */
export class Traffic {
  readonly #events = new EventEmitter()
  #running = 0
  #draining = false

  /** Requests whose answers are not out yet. */
  get running(): number {
    return this.#running
  }

  /** Answers now tell clients to close their connections. */
  get isDraining(): boolean {
    return this.#draining
  }

  drain(): void {
    this.#draining = true
  }

  started(): void {
    this.#running++
  }

  ended(): void {
    this.#running--
    if (this.#running === 0 && this.#draining) this.#events.emit('idle')
  }

  /** Resolves when nothing is running, or when `signal` aborts. Only while draining. */
  async idle(signal: AbortSignal): Promise<void> {
    if (this.#running === 0 || signal.aborted) return
    await once(this.#events, 'idle', { signal }).catch(() => {})
  }
}
