/** How many rounds of all loops are made at once: less than a millisecond's work. */
const roundsAtOnce = 256

/**
 * Loops inside loops that can be interrupted and resumed, without a generator for each level. Code after a loop must
 * not read what the loop fills: its last rounds may come later.
 */
export class ResumableLoops {
  #left = roundsAtOnce
  /** The rest of each interrupted loop, the innermost first. */
  #rest: (() => void)[] = []

  get areInterrupted(): boolean {
    return this.#rest.length > 0
  }

  /** Calls `run` for each item in order, now or when the loops are resumed. */
  forEach<Item>(items: readonly Item[], run: (item: Item, at: number) => void): void {
    this.#goOn(items, run, 0)
  }

  /** Runs the next rounds of interrupted loops, in the order of loops that were never interrupted. */
  resume(): void {
    const [innermost, ...outer] = this.#rest
    this.#rest = []
    this.#left = roundsAtOnce
    innermost?.()
    this.#rest.push(...outer)
  }

  #goOn<Item>(items: readonly Item[], run: (item: Item, at: number) => void, from: number): void {
    for (let at = from; at < items.length; at++) {
      if (this.#left <= 0) {
        this.#rest.push(() => this.#goOn(items, run, at))
        return
      }
      this.#left--
      run(items[at] as Item, at)
    }
  }
}
