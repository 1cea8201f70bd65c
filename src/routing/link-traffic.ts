import type { Millis } from '../core/ids.ts'

/** How fast a link answers requests of one form. */
export type Pace =
  /** Not measured, or not any longer. */
  | { readonly kind: 'new' }
  /** Not measured yet, but a running request is about to measure it. */
  | { readonly kind: 'being-measured' }
  | { readonly kind: 'measured'; readonly average: Millis }
  /** Its last request has failed a short time ago. */
  | { readonly kind: 'failed' }

/** The weight of the last time in the average. */
const lastWeight = 0.3

/** How long an average counts after its last time. */
const maxAge: Millis = 5 * 60_000

/** The times of one form of answer on one link: of streams to their first content, or of whole answers. */
export class PaceMeter {
  /** Running requests that have not answered yet. */
  pending = 0
  /** Running requests, streams to their end. */
  inFlight = 0
  #average: Millis | undefined
  #lastAt: Millis | undefined

  addTime(time: Millis, now: Millis): void {
    const last = this.#isRecent(now, maxAge) ? this.#average : undefined
    this.#average = last === undefined ? time : last + lastWeight * (time - last)
    this.#lastAt = now
  }

  addFailure(now: Millis): void {
    this.#average = undefined
    this.#lastAt = now
  }

  /** `cooldown`: how long a failure counts. */
  read(now: Millis, cooldown: Millis): Pace {
    const average = this.#average
    if (average === undefined) {
      return this.#isRecent(now, cooldown) ? { kind: 'failed' } : this.#unknown()
    }
    const isKnown = this.pending > 0 || this.#isRecent(now, maxAge)
    return isKnown ? { kind: 'measured', average } : { kind: 'new' }
  }

  /** One request at a time measures a link, so that a slow one does not get all of them. */
  #unknown(): Pace {
    return this.pending === 0 ? { kind: 'new' } : { kind: 'being-measured' }
  }

  #isRecent(now: Millis, age: Millis): boolean {
    return this.#lastAt !== undefined && now - this.#lastAt < age
  }
}

/** The requests of one link. Streams and whole answers are measured apart: their times do not compare. */
export class LinkTraffic {
  readonly streams = new PaceMeter()
  readonly answers = new PaceMeter()

  get inFlight(): number {
    return this.streams.inFlight + this.answers.inFlight
  }
}
