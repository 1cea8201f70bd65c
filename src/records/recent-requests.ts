import type { Api } from '../core/capability.ts'
import type { ErrorCode } from '../core/errors.ts'
import type { Millis, NanoUsd, UnixSeconds } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import type { FailedLink, RecordSink, RequestRecord } from '../core/request-record.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import type { Sequence } from '../core/workers.ts'
import { type MinuteTotal, MinuteTotals } from './minute-totals.ts'
import { findProvider } from './request-log.ts'

/** A finished request that is still in memory. */
export type RecentRequest = Readonly<Omit<Place, 'keep'>>

/** Why a link last failed. */
export interface LastFailure {
  readonly reason: string
  readonly at: UnixSeconds
}

const free = 0n as NanoUsd
const noLinks: readonly FailedLink[] = []

const requestsKept = 500
/** Reloads may rename links, so their number has no other bound. */
const linksKept = 10_000

/**
 * Keeps the last requests in memory for those who watch the gateway. A restart forgets them. What is kept
 * of a request overwrites what was kept of an older one: the garbage collector would copy every record
 * twice if it were kept as it is.
 */
export class RecentRequests {
  readonly startedAt: UnixSeconds
  readonly #clock: Clock
  readonly #minutes = new MinuteTotals()
  readonly #numbers: Pick<Sequence, 'next'>
  /** In the order of the requests, from the oldest on. */
  readonly #places: Place[] = []
  /** The index of the oldest request: 0 until all places are taken. */
  #oldest = 0
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
    this.#nextPlace().keep({ sequence: this.#last, endedAt, record })
    this.#minutes.add(record, endedAt)
    for (const { provider, model, reason, attempts } of record.failed ?? noLinks) {
      if (attempts > 0) this.#setFailure(linkName(provider, model), { reason, at: endedAt })
    }
  }

  /** The requests after this sequence, oldest first, at most `limit`. */
  listAfter(sequence: number, limit: number): RecentRequest[] {
    const kept = [...this.#places.slice(this.#oldest), ...this.#places.slice(0, this.#oldest)]
    const later = kept.filter((request) => request.sequence > sequence)
    return later.slice(0, limit).map((request) => ({ ...request }))
  }

  /** The totals of the last 60 minutes, oldest first. */
  listMinutes(): MinuteTotal[] {
    return this.#minutes.list(unixSeconds(this.#clock))
  }

  /** Why a call of this link last failed; undefined when none has. */
  findLastFailure(provider: string, model: string): LastFailure | undefined {
    return this.#failures.get(linkName(provider, model))
  }

  #nextPlace(): Place {
    const oldest = this.#places[this.#oldest]
    if (this.#places.length === requestsKept && oldest) {
      this.#oldest = (this.#oldest + 1) % requestsKept
      return oldest
    }
    const place = new Place()
    this.#places.push(place)
    return place
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

interface Finished {
  readonly sequence: number
  readonly endedAt: UnixSeconds
  readonly record: RequestRecord
}

/** What is kept of one request, until a later one takes its place. */
class Place {
  /** The number of the request among all since the start. */
  sequence = 0
  endedAt: UnixSeconds = 0
  requestId = ''
  keyId: string | null = null
  groupId: string | null = null
  api: Api = 'chat'
  stream = false
  /** The model or the route that the request names; null when it could not be read. */
  model: string | null = null
  /** The model that served; null when none did. */
  modelUsed: string | null = null
  /** The provider that served; when none did, that of the last call, or of the model; null for a refusal. */
  provider: string | null = null
  status = 0
  errorCode: ErrorCode | null = null
  /** Why the gateway refused the request by itself, in words. */
  reason: string | null = null
  /** In whole milliseconds, as the next one. */
  latency: Millis = 0
  timeToFirstToken: Millis | null = null
  /** The wait for room at upstreams; null without one. */
  queued: Millis | null = null
  tokensIn: number | null = null
  tokensOut: number | null = null
  estimated = false
  cost: NanoUsd = free
  cacheHit = false
  attempts = 0
  failed: readonly FailedLink[] = noLinks

  keep({ sequence, endedAt, record }: Finished): void {
    const { served, usage, timeToFirstToken, queued } = record
    this.sequence = sequence
    this.endedAt = endedAt
    this.requestId = record.requestId
    this.keyId = record.keyId ?? null
    this.groupId = record.account?.groupId ?? null
    this.api = record.api
    this.stream = record.stream
    this.model = record.model?.id ?? record.refusal?.model ?? null
    this.modelUsed = served?.id ?? null
    this.provider = findProvider(record) ?? null
    this.status = record.status
    this.errorCode = record.errorCode ?? null
    this.reason = record.refusal?.reason ?? null
    this.latency = Math.round(record.latency)
    this.timeToFirstToken = timeToFirstToken === undefined ? null : Math.round(timeToFirstToken)
    this.queued = queued === undefined ? null : Math.round(queued)
    this.tokensIn = usage?.promptTokens ?? null
    this.tokensOut = usage?.completionTokens ?? null
    this.estimated = usage?.estimated ?? false
    this.cost = record.cost
    this.cacheHit = record.cacheHit
    this.attempts = record.attempts
    this.failed = record.failed ?? noLinks
  }
}

function linkName(provider: string, model: string): string {
  return `${provider}\n${model}`
}
