import type { Millis } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'

type Fields = Readonly<Record<string, unknown>>

export interface LineLimitOptions {
  readonly clock: Clock
  readonly perSecond: number
  readonly write: (fields: Fields) => void
}

const second: Millis = 1000

/**
 * Writes so many lines a second at most, for lines that anyone can cause: they must not fill a disk.
 * The `count` of a line includes those that were left out before it.
 */
export class LineLimit {
  readonly #options: LineLimitOptions
  /** When the present second began. */
  #began = Number.NEGATIVE_INFINITY
  #written = 0
  #leftOut = 0

  constructor(options: LineLimitOptions) {
    this.#options = options
  }

  add(fields: () => Fields): void {
    const { clock, perSecond, write } = this.#options
    const now = clock.elapsed()
    if (now - this.#began >= second) {
      this.#began = now
      this.#written = 0
    }
    if (this.#written >= perSecond) {
      this.#leftOut++
      return
    }
    this.#written++
    const count = this.#leftOut === 0 ? undefined : this.#leftOut + 1
    this.#leftOut = 0
    write({ ...fields(), count })
  }

  /** Writes the count of what was left out last. */
  close(): void {
    if (this.#leftOut > 0) this.#options.write({ count: this.#leftOut })
    this.#leftOut = 0
  }
}
