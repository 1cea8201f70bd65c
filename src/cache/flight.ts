import type { CachedAnswer } from './answer-store.ts'

/** A request to the upstream whose answer equal requests wait for. */
export class Flight {
  /** Resolves to the answer; to undefined when there is none to share. */
  readonly landed: Promise<CachedAnswer | undefined>
  #resolve: (answer: CachedAnswer | undefined) => void = () => {}
  #followers = 0
  #onDeserted: (() => void) | undefined
  readonly #onLanded: () => void

  constructor(onLanded: () => void) {
    this.#onLanded = onLanded
    this.landed = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  /** Waits for the answer. Returns the function that ends the wait, to be called once. */
  join(): () => void {
    this.#followers++
    return () => {
      if (--this.#followers === 0) this.#onDeserted?.()
    }
  }

  /**
   * Hands the call over to those who wait: the client that began it has left. Returns false when no request
   * waits, so that the call can end. Otherwise `onDeserted` is called when the last one has left.
   */
  handOver(onDeserted: () => void): boolean {
    if (this.#followers === 0) return false
    this.#onDeserted = onDeserted
    return true
  }

  /** Gives the answer to those who wait. Only the first call counts. */
  land(answer: CachedAnswer | undefined): void {
    this.#onDeserted = undefined
    this.#onLanded()
    this.#resolve(answer)
  }
}
