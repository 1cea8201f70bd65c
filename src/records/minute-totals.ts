import type { Millis, NanoUsd, UnixSeconds } from '../core/ids.ts'
import type { RequestRecord } from '../core/request-record.ts'
import { LatencyHistogram } from './latency-histogram.ts'

/** The requests that ended in one minute. */
export interface MinuteTotal {
  readonly startsAt: UnixSeconds
  readonly ok: number
  readonly clientErrors: number
  readonly serverErrors: number
  readonly tokensIn: number
  readonly tokensOut: number
  readonly cost: NanoUsd
  /** Of the requests that succeeded; undefined without one. */
  readonly latencyP50: Millis | undefined
  readonly latencyP95: Millis | undefined
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
  readonly #latencies = new LatencyHistogram()
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
      this.#latencies.add(latency)
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
      latencyP50: this.#latencies.quantile(0.5),
      latencyP95: this.#latencies.quantile(0.95),
    }
  }
}
