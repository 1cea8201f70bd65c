/**
 * Random numbers that can be looked at before they are used, so that it can be said in which order the
 * next request tries the targets of a route.
 */
export class Draws {
  readonly #random: () => number
  /** The numbers that have been looked at, and not used yet. */
  #ahead: number[] = []

  /** `random` returns a number from 0 up to 1. */
  constructor(random: () => number) {
    this.#random = random
  }

  /** Returns the next number. */
  readonly next = (): number => this.#ahead.shift() ?? this.#random()

  /** Returns a function that returns the numbers that `next` will return, and uses none of them. */
  lookAhead(): () => number {
    let at = 0
    return () => (this.#ahead[at++] ??= this.#random())
  }
}
