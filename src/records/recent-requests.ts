import type { UnixSeconds } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import type { RecordSink, RequestRecord } from '../core/request-record.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import type { Sequence } from '../core/workers.ts'
import { type MinuteTotal, MinuteTotals } from './minute-totals.ts'

/** A finished request that is still in memory. */
export interface RecentRequest {
  /** Its place among all requests since the start. */
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
  readonly #numbers: Pick<Sequence, 'next'>
  /** Oldest first; twice as many as are kept, so that the oldest are rarely removed. */
  readonly #requests: RecentRequest[] = []
  readonly #failures = new Map<string, LastFailure>()
  #last = 0

  constructor(clock: Clock, numbers: Pick<Sequence, 'next'>) {
    this.#clock = clock
    this.#numbers = numbers
    this.startedAt = unixSeconds(clock)
  }

  readonly add: RecordSink = (record) => {
    const endedAt = unixSeconds(this.#clock)
    this.#last = this.#numbers.next(this.#last)
    this.#requests.push({ sequence: this.#last, endedAt, record })
    if (this.#requests.length >= 2 * requestsKept) this.#requests.splice(0, requestsKept)
    this.#minutes.add(record, endedAt)
    for (const { provider, model, reason, attempts } of record.failed ?? []) {
      if (attempts > 0) this.#setFailure(linkName(provider, model), { reason, at: endedAt })
    }
  }

  /** The requests after this sequence, oldest first, at most `limit`. */
  listAfter(sequence: number, limit: number): RecentRequest[] {
    const kept = this.#requests.slice(-requestsKept)
    return kept.filter((request) => request.sequence > sequence).slice(0, limit)
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
