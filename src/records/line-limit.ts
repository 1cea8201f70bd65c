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
 * Limits lines that unauthenticated clients can cause, so that they cannot fill a disk. The `count` of a
 * line includes the lines that were omitted before it.
 */
export class LineLimit {
  readonly #options: LineLimitOptions
  /** When the current second began. */
  #began = Number.NEGATIVE_INFINITY
  #written = 0
  #omitted = 0

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
      this.#omitted++
      return
    }
    this.#written++
    const count = this.#omitted === 0 ? undefined : this.#omitted + 1
    this.#omitted = 0
    write({ ...fields(), count })
  }

  /** Writes the number of lines omitted since the last one. */
  close(): void {
    if (this.#omitted > 0) this.#options.write({ count: this.#omitted })
    this.#omitted = 0
  }
}
