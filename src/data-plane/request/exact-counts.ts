import type { Millis } from '../../core/ids.ts'
import type { Clock, Tokenizer } from '../../core/ports.ts'
import type { RecordSink, RequestRecord } from '../../core/request-record.ts'
import { applyExactCounts, type Usage } from '../../core/usage.ts'
import { priceAnswer } from '../../pricing/index.ts'
import { countExactly } from '../../tokens/index.ts'
import { sumCalls } from './charged-calls.ts'
import type { PendingCount } from './record-builder.ts'

export interface ExactCountsOptions {
  readonly tokenizer: Tokenizer
  readonly clock: Clock
  /** Keeps a record that is being counted, and returns the sink of the final one. */
  readonly hold: (record: RequestRecord) => RecordSink
}

/** A count that is being made, and the sink of the final record. */
interface HeldCount extends PendingCount {
  readonly emit: RecordSink
}

/** How long a shutdown waits for counts. */
const closeTimeout: Millis = 2_000

/**
 * Replaces estimates by exact counts after the answer has been sent. Each record is emitted once:
 * with the count, or with its estimate when the tokenizer fails or the gateway closes first.
 */
export class ExactCounts {
  readonly #options: ExactCountsOptions
  readonly #pending = new Map<RequestRecord, HeldCount>()
  #onIdle: (() => void) | undefined

  constructor(options: ExactCountsOptions) {
    this.#options = options
  }

  /** Emits the record once it has been counted. Never rejects. */
  async record(record: RequestRecord, pending: PendingCount): Promise<void> {
    const { tokenizer, hold } = this.#options
    this.#pending.set(record, { ...pending, emit: hold(record) })
    const exact = await countExactly(tokenizer, pending.input).catch(() => undefined)
    this.#emit(record, exact)
  }

  /** Waits up to two seconds for pending counts, then emits the remaining records as they are. */
  async close(): Promise<void> {
    if (this.#pending.size === 0) return
    await new Promise<void>((resolve) => {
      const timer = this.#options.clock.schedule(closeTimeout, resolve)
      this.#onIdle = () => {
        timer.cancel()
        resolve()
      }
    })
    for (const record of this.#pending.keys()) this.#emit(record, undefined)
  }

  #emit(record: RequestRecord, exact: Usage | undefined): void {
    const pending = this.#pending.get(record)
    if (!pending) return
    this.#pending.delete(record)
    pending.emit(exact ? withExactUsage(record, exact, pending) : record)
    if (this.#pending.size === 0) this.#onIdle?.()
  }
}

/** Adjusts the charge too: the budget was charged with the estimate when the answer was sent. */
function withExactUsage(
  record: RequestRecord,
  exact: Usage,
  { admission, usage: estimated, failed, ask, sentAt }: PendingCount,
): RequestRecord {
  const { served, searchUnits } = record
  const usage = applyExactCounts(estimated, exact)
  if (!served) return { ...record, usage }
  const price = priceAnswer(served, { usage, searchUnits, ask, sentAt })
  const sum = sumCalls(failed, { link: served, usage, price })
  const cost = sum?.price?.cost ?? price.cost
  admission.adjust(cost)
  return {
    ...record,
    usage: sum?.usage ?? usage,
    charged: sum?.charged,
    cost,
    price: record.price && (sum?.price ?? price),
  }
}
