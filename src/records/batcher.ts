import type { Millis } from '../core/ids.ts'
import type { Clock, Timer } from '../core/ports.ts'
import type { RecordSink, RequestRecord } from '../core/request-record.ts'

export interface RecordBatcherOptions {
  /** Told of every settlement, in order. */
  readonly sinks: readonly RecordSink[]
  readonly clock: Clock
  /** Nothing runs from which another settlement would come soon. */
  readonly isIdle: () => boolean
}

/** How many settlements wait for each other, and for how long. */
const maxBatch = 16
const maxWait: Millis = 10

/**
 * Settlements on their way to those who keep account of them. They are told of several in a row,
 * which costs a third less: between two requests the processor's cache forgets their code.
 */
export class RecordBatcher {
  readonly #options: RecordBatcherOptions
  #waiting: RequestRecord[] = []
  #timer: Timer | undefined

  constructor(options: RecordBatcherOptions) {
    this.#options = options
  }

  add(settlement: RequestRecord): void {
    const { clock, isIdle } = this.#options
    this.#waiting.push(settlement)
    if (this.#waiting.length >= maxBatch || isIdle()) this.flush()
    else this.#timer ??= clock.schedule(maxWait, () => this.flush())
  }

  /** Tells of all that wait. */
  flush(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    const settlements = this.#waiting
    this.#waiting = []
    for (const record of this.#options.sinks) settlements.forEach(record)
  }
}
