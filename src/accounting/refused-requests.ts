import type { GroupId, KeyId, Millis } from '../core/ids.ts'
import type { Clock, Log, Timer } from '../core/ports.ts'
import { writeFailure } from '../core/request-failure.ts'
import type { RequestRecord } from '../core/request-record.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import type { RefusedBatch, RefusedRow, Store } from '../store/index.ts'
import { OutageLogger } from './outage-logger.ts'

export interface RefusedRequestsOptions {
  readonly store: Pick<Store, 'addRefused'>
  readonly clock: Clock
  readonly log: Log
  /** The group of a key. */
  readonly findGroup: (key: KeyId) => GroupId | null
}

/** The time between two writes. */
const flushAfter: Millis = 1_000
/** Rows of one key and one error code in one write; the last of them counts the further requests. */
const maxRowsOfKey = 10
/** The same without a valid key: the rows of strangers must not soon take the place of all others. */
const maxRowsOfStrangers = 3
/** Rows in one write. Requests that are like none of them are then not kept. */
const maxRows = 500

interface Kept {
  readonly row: RefusedRow
  /** The requests that the row stands for. */
  count: number
}

interface Alike {
  rows: number
  last: Kept
}

/**
 * Keeps the requests that have no row in the usage log, because they were refused before. Anyone can send such
 * requests, in any number, so what is kept of them in a second is bounded, and a process that is killed loses those
 * of its last second.
 */
export class RefusedRequests {
  readonly #options: RefusedRequestsOptions
  readonly #outage: OutageLogger
  #waiting: Kept[] = []
  /** By key and error code, those that are waiting. */
  readonly #alike = new Map<string, Alike>()
  /** What is being written, or could not be written yet. */
  #batch: RefusedBatch | undefined
  #timer: Timer | undefined
  #writing: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(options: RefusedRequestsOptions) {
    this.#options = options
    this.#outage = new OutageLogger({
      log: options.log,
      failing: 'cannot save refused requests; keeping the first of them in memory and retrying',
      recovered: 'saving refused requests works again',
    })
  }

  /** Accepts a request. Returns at once and never throws. */
  add(record: RequestRecord): void {
    if (this.#isClosed) return
    const name = `${record.keyId} ${record.errorCode}`
    const alike = this.#alike.get(name)
    const maxRowsAlike = record.keyId === undefined ? maxRowsOfStrangers : maxRowsOfKey
    if (alike && (alike.rows >= maxRowsAlike || this.#waiting.length >= maxRows)) {
      alike.last.count++
      return
    }
    if (this.#waiting.length >= maxRows) return
    const last = { row: this.#toRow(record), count: 1 }
    this.#waiting.push(last)
    this.#alike.set(name, { rows: (alike?.rows ?? 0) + 1, last })
    this.#schedule()
  }

  /** Writes all waiting rows. Resolves when that is done or has failed. */
  flush(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#writing = this.#writing.then(() => this.#write())
    return this.#writing
  }

  /** Writes all waiting rows for the last time. */
  close(): Promise<void> {
    this.#isClosed = true
    return this.flush()
  }

  #schedule(): void {
    this.#timer ??= this.#options.clock.schedule(flushAfter, () => void this.flush())
  }

  async #write(): Promise<void> {
    try {
      for (this.#batch ??= this.#take(); this.#batch; this.#batch = this.#take()) {
        await this.#options.store.addRefused(this.#batch)
        this.#outage.recordSuccess()
      }
    } catch (error) {
      this.#outage.recordFailure(error)
      if (!this.#isClosed) this.#schedule()
    }
  }

  #take(): RefusedBatch | undefined {
    if (this.#waiting.length === 0) return undefined
    const rows = this.#waiting.map(({ row, count }) => ({ ...row, count }))
    this.#waiting = []
    this.#alike.clear()
    return { id: crypto.randomUUID(), rows }
  }

  #toRow(record: RequestRecord): RefusedRow {
    const { clock, findGroup } = this.#options
    const { keyId, refusal } = record
    return {
      ts: unixSeconds(clock),
      requestId: record.requestId,
      keyId: keyId ?? null,
      groupId: keyId === undefined ? null : findGroup(keyId),
      api: record.api,
      stream: record.stream,
      model: record.model?.id ?? refusal?.model ?? null,
      status: record.status,
      errorCode: record.errorCode ?? null,
      failure: writeFailure(record),
      latencyMs: Math.round(record.latency),
      count: 1,
    }
  }
}
