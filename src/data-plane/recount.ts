import type { Clock, Tokenizer } from '../core/ports.ts'
import type { Recorder, Settlement } from '../core/settlement.ts'
import { type Countable, countExactly } from '../tokens/index.ts'

export interface RecountsOptions {
  readonly tokenizer: Tokenizer
  readonly clock: Clock
  readonly record: Recorder
}

/** How long a shutdown waits for counts. */
const patience = 2_000

/**
 * Puts exact counts in the place of estimates. The answer has gone out by then; the record of the
 * request is written once, when the count is there, or with the estimate when there will be none.
 */
export class Recounts {
  readonly #options: RecountsOptions
  readonly #waiting = new Set<Settlement>()
  #idle: (() => void) | undefined

  constructor(options: RecountsOptions) {
    this.#options = options
  }

  /** Never rejects. */
  async record(settlement: Settlement, countable: Countable): Promise<void> {
    this.#waiting.add(settlement)
    // A tokenizer that fails has no count.
    const usage = await countExactly(this.#options.tokenizer, countable).catch(() => undefined)
    this.#write(settlement, usage)
  }

  /** Waits a moment for what is being counted, and writes the rest with its estimates. */
  async close(): Promise<void> {
    if (this.#waiting.size === 0) return
    await new Promise<void>((resolve) => {
      const timer = this.#options.clock.schedule(patience, resolve)
      this.#idle = () => {
        timer.cancel()
        resolve()
      }
    })
    for (const settlement of this.#waiting) this.#write(settlement, undefined)
  }

  #write(settlement: Settlement, usage: Settlement['usage']): void {
    if (!this.#waiting.delete(settlement)) return
    this.#options.record(usage ? { ...settlement, usage } : settlement)
    if (this.#waiting.size === 0) this.#idle?.()
  }
}
