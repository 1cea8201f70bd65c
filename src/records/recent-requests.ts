import type { UnixSeconds } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import type { FailedLink, RecordSink } from '../core/request-record.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import { type MinuteTotal, MinuteTotals } from './minute-totals.ts'

/** Why a link last failed. */
export interface LastFailure {
  readonly reason: string
  readonly at: UnixSeconds
}

const noLinks: readonly FailedLink[] = []

/** Reloads may rename links, so their number has no other bound. */
const linksKept = 10_000

/** Counts the requests of the last hour, and keeps why links last failed. A restart forgets both. */
export class RecentRequests {
  readonly startedAt: UnixSeconds
  readonly #clock: Clock
  readonly #minutes = new MinuteTotals()
  readonly #failures = new Map<string, LastFailure>()

  constructor(clock: Clock) {
    this.#clock = clock
    this.startedAt = unixSeconds(clock)
  }

  readonly add: RecordSink = (record) => {
    const endedAt = unixSeconds(this.#clock)
    this.#minutes.add(record, endedAt)
    for (const { provider, model, reason, attempts } of record.failed ?? noLinks) {
      if (attempts > 0) this.#setFailure(linkName(provider, model), { reason, at: endedAt })
    }
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
