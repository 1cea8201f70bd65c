import type { NanoUsd, UnixSeconds } from '../core/ids.ts'
import type { RequestRecord } from '../core/request-record.ts'
import {
  addLatency,
  createLatencyCounts,
  joinLatencyCounts,
  type LatencyCounts,
} from './latency-histogram.ts'

/** The requests that ended in one minute. */
export interface MinuteTotal {
  readonly startsAt: UnixSeconds
  readonly ok: number
  readonly clientErrors: number
  readonly serverErrors: number
  readonly tokensIn: number
  readonly tokensOut: number
  readonly cost: NanoUsd
  /** Of the requests that succeeded. */
  readonly latencies: LatencyCounts
}

/** Returns the totals of the same minute in two processes together. */
export function joinMinutes(a: MinuteTotal, b: MinuteTotal): MinuteTotal {
  return {
    startsAt: a.startsAt,
    ok: a.ok + b.ok,
    clientErrors: a.clientErrors + b.clientErrors,
    serverErrors: a.serverErrors + b.serverErrors,
    tokensIn: a.tokensIn + b.tokensIn,
    tokensOut: a.tokensOut + b.tokensOut,
    // A sum of amounts is an amount.
    cost: (a.cost + b.cost) as NanoUsd,
    latencies: joinLatencyCounts(a.latencies, b.latencies),
  }
}

const minute = 60
const minutesKept = 60

/** The totals of each of the last 60 minutes. */
export class MinuteTotals {
  readonly #minutes = new Map<UnixSeconds, Minute>()

  add(record: RequestRecord, at: UnixSeconds): void {
    const startsAt = at - (at % minute)
    let totals = this.#minutes.get(startsAt)
    if (!totals) {
      this.#minutes.set(startsAt, (totals = new Minute(startsAt)))
      this.#drop(startsAt)
    }
    totals.add(record)
  }

  /** The minutes up to now, oldest first, with those that had no requests. */
  list(now: UnixSeconds): MinuteTotal[] {
    const last = now - (now % minute)
    return Array.from({ length: minutesKept }, (_, index) => {
      const startsAt = last - (minutesKept - 1 - index) * minute
      return (this.#minutes.get(startsAt) ?? new Minute(startsAt)).total
    })
  }

  /** Drops the minutes that no list contains any more. */
  #drop(last: UnixSeconds): void {
    for (const startsAt of this.#minutes.keys()) {
      // After the wall clock was set back, a minute may also be too new.
      if (Math.abs(last - startsAt) >= minutesKept * minute) this.#minutes.delete(startsAt)
    }
  }
}

class Minute {
  readonly #startsAt: UnixSeconds
  readonly #latencies = createLatencyCounts()
  #ok = 0
  #clientErrors = 0
  #serverErrors = 0
  #tokensIn = 0
  #tokensOut = 0
  #cost = 0n

  constructor(startsAt: UnixSeconds) {
    this.#startsAt = startsAt
  }

  add({ status, usage, cost, latency }: RequestRecord): void {
    if (status >= 500) this.#serverErrors++
    else if (status >= 400) this.#clientErrors++
    else {
      this.#ok++
      addLatency(this.#latencies, latency)
    }
    this.#tokensIn += usage?.promptTokens ?? 0
    this.#tokensOut += usage?.completionTokens ?? 0
    this.#cost += cost
  }

  get total(): MinuteTotal {
    return {
      startsAt: this.#startsAt,
      ok: this.#ok,
      clientErrors: this.#clientErrors,
      serverErrors: this.#serverErrors,
      tokensIn: this.#tokensIn,
      tokensOut: this.#tokensOut,
      // A sum of amounts is an amount.
      cost: this.#cost as NanoUsd,
      latencies: this.#latencies,
    }
  }
}
