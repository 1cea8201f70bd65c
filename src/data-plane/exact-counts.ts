import type { Clock, Tokenizer } from '../core/ports.ts'
import type { RecordSink, RequestRecord } from '../core/request-record.ts'
import { applyExactCounts, type Usage } from '../core/usage.ts'
import { calculateCost } from '../pricing/index.ts'
import { countExactly } from '../tokens/index.ts'
import type { Recount } from './exchange.ts'

export interface ExactCountsOptions {
  readonly tokenizer: Tokenizer
  readonly clock: Clock
  readonly record: RecordSink
}

/** How long a shutdown waits for counts. */
const patience = 2_000

/**
 * Puts exact counts in the place of estimates. The answer has gone out by then; the record of the
 * request is written once, when the count is there, or with the estimate when there will be none.
 */
export class ExactCounts {
  readonly #options: ExactCountsOptions
  readonly #waiting = new Map<RequestRecord, Recount>()
  #idle: (() => void) | undefined

  constructor(options: ExactCountsOptions) {
    this.#options = options
  }

  /** Never rejects. */
  async record(settlement: RequestRecord, recount: Recount): Promise<void> {
    this.#waiting.set(settlement, recount)
    // A tokenizer that fails has no count.
    const exact = await countExactly(this.#options.tokenizer, recount.countable).catch(
      () => undefined,
    )
    this.#write(settlement, exact)
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
    for (const settlement of this.#waiting.keys()) this.#write(settlement, undefined)
  }

  #write(settlement: RequestRecord, exact: Usage | undefined): void {
    const recount = this.#waiting.get(settlement)
    if (!recount) return
    this.#waiting.delete(settlement)
    this.#options.record(exact ? counted(settlement, exact, recount) : settlement)
    if (this.#waiting.size === 0) this.#idle?.()
  }
}

/** The budget was charged with the estimate when the answer went out: now with what it really was. */
function counted(settlement: RequestRecord, exact: Usage, { admission }: Recount): RequestRecord {
  const { account, served, searchUnits } = settlement
  const usage = settlement.usage ? applyExactCounts(settlement.usage, exact) : exact
  if (!account || !served) return { ...settlement, usage }
  const cost = calculateCost(served.prices, usage, searchUnits)
  admission.adjust(cost)
  return { ...settlement, usage, cost }
}
