import type { UnixSeconds } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import type { RecordSink, RequestRecord } from '../core/request-record.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import { type MinuteTotal, MinuteTotals } from './minute-totals.ts'

/** A finished request that is still in memory. */
export interface RecentRequest {
  /** Its place among all requests since the start, from 1. */
  readonly sequence: number
  readonly endedAt: UnixSeconds
  readonly record: RequestRecord
}

/** Why a link last failed. */
export interface LastFailure {
  readonly reason: string
  readonly at: UnixSeconds
}

const requestsKept = 500
/** Reloads may rename links, so their number has no other bound. */
const linksKept = 10_000

/** Keeps the last requests in memory for those who watch the gateway. A restart forgets them. */
export class RecentRequests {
  readonly startedAt: UnixSeconds
  readonly #clock: Clock
  readonly #minutes = new MinuteTotals()
  /** A ring: the request with the sequence `n` is at `n % requestsKept`. */
  readonly #ring: RecentRequest[] = []
  readonly #failures = new Map<string, LastFailure>()
  #last = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.startedAt = unixSeconds(clock)
  }

  readonly add: RecordSink = (record) => {
    const endedAt = unixSeconds(this.#clock)
    const sequence = ++this.#last
    this.#ring[sequence % requestsKept] = { sequence, endedAt, record }
    this.#minutes.add(record, endedAt)
    for (const { provider, model, reason, attempts } of record.failed ?? []) {
      if (attempts > 0) this.#setFailure(linkName(provider, model), { reason, at: endedAt })
    }
  }

  /** The requests after this sequence, oldest first, at most `limit`. */
  listAfter(sequence: number, limit: number): RecentRequest[] {
    const first = Math.max(sequence + 1, this.#last - requestsKept + 1, 1)
    const length = Math.max(0, Math.min(limit, this.#last - first + 1))
    // Every sequence from `first` to the last one is in the ring.
    return Array.from(
      { length },
      (_, index) => this.#ring[(first + index) % requestsKept] as RecentRequest,
    )
  }

  /** The totals of the last 60 minutes, oldest first. */
  listMinutes(): MinuteTotal[] {
    return this.#minutes.list(unixSeconds(this.#clock))
  }

  /** Why a call of this link last failed; undefined when none has. */
  findLastFailure(provider: string, model: string): LastFailure | undefined {
    return this.#failures.get(linkName(provider, model))
  }

  #setFailure(link: string, failure: LastFailure): void {
    this.#failures.delete(link)
    this.#failures.set(link, failure)
    if (this.#failures.size <= linksKept) return
    // A map lists its keys in the order in which they were set.
    const [oldest = ''] = this.#failures.keys()
    this.#failures.delete(oldest)
  }
}

function linkName(provider: string, model: string): string {
  return `${provider}\n${model}`
}
