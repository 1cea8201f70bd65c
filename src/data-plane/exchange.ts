import type { ErrorCode } from '../core/errors.ts'
import type { UpstreamFailure } from '../core/failure.ts'
import type { Millis, RequestId } from '../core/ids.ts'
import type { Clock, Encoding, FetchApi, ImageFetchPort, Log } from '../core/ports.ts'
import type { Capability, Model, Route } from '../core/provider.ts'
import type { Media, Metadata, Settlement } from '../core/settlement.ts'
import type { Usage } from '../core/usage.ts'
import type { Attempt, Resilience } from '../resilience/index.ts'
import type { Snapshot } from '../snapshot/index.ts'
import { type Countable, encodingOf } from '../tokens/index.ts'
import { readBody } from '../wire/body.ts'
import type { Scope } from '../wire/deadline.ts'

export interface ExchangeOptions {
  readonly id: RequestId
  readonly capability: Capability
  readonly snapshot: Snapshot
  readonly scope: Scope
  readonly clock: Clock
  readonly log: Log
  readonly fetchApi: FetchApi
  /** Absent where the host cannot fetch images. */
  readonly imageFetch: ImageFetchPort | undefined
  readonly resilience: Resilience
  readonly metadata: Metadata
  /** Someone can count exactly. */
  readonly canCount: boolean
  readonly record: (settlement: Settlement, countable: Countable | undefined) => void
  /** Told of every upstream call, when it is over. */
  readonly attempted: (link: Model, outcome: AttemptOutcome) => void
}

/** What came of one upstream call: `success`, or the kind of its failure. */
export type AttemptOutcome = 'success' | UpstreamFailure['kind']

/** How a request has ended. */
export interface Outcome {
  readonly status: number
  readonly errorCode?: ErrorCode | undefined
  readonly served?: Model | undefined
  readonly usage?: Usage | undefined
  readonly searchUnits?: number | undefined
  /** Present where `usage` is an estimate that an exact count is to replace. */
  readonly countable?: Countable | undefined
}

/**
 * One request on its way through the data plane: what it was given to work with, and what there
 * will be to tell of it. It ends exactly once, through `settle`.
 */
export class Exchange {
  readonly id: RequestId
  readonly snapshot: Snapshot
  /** Ends when the client leaves or the process must stop. */
  readonly scope: Scope
  readonly clock: Clock
  readonly log: Log
  readonly fetchApi: FetchApi
  readonly imageFetch: ImageFetchPort | undefined
  readonly resilience: Resilience
  /** On the clock that never jumps. */
  readonly arrived: Millis
  stream = false
  media: Media | undefined
  readonly #options: ExchangeOptions
  #route: Route | undefined
  #firstToken: Millis | undefined
  #attempts = 0
  #settled = false

  constructor(options: ExchangeOptions) {
    this.#options = options
    this.id = options.id
    this.snapshot = options.snapshot
    this.scope = options.scope
    this.clock = options.clock
    this.log = options.log
    this.fetchApi = options.fetchApi
    this.imageFetch = options.imageFetch
    this.resilience = options.resilience
    this.arrived = options.clock.elapsed()
  }

  get settled(): boolean {
    return this.#settled
  }

  /** The whole body of the request; the wait for it ends with the exchange. */
  body(request: Request): Promise<Uint8Array> {
    return this.scope.race(readBody(request, this.snapshot.bodyLimit))
  }

  /** The request has named a model that can serve it. */
  routed(route: Route): void {
    this.#route = route
  }

  /** An attempt is over. Without a credential it made no upstream call. */
  attempted(link: Model, attempt: Attempt<unknown>): void {
    const outcome = attempt.ok ? 'success' : attempt.failure.kind
    if (outcome === 'no-credential') return
    this.#attempts++
    this.#options.attempted(link, outcome)
  }

  /** How to count exactly what a link has served; undefined where that is not to be done. */
  encodingOf(link: Model): Encoding | undefined {
    const isAsked = this.snapshot.tokenizer === 'accurate' && this.#options.canCount
    return isAsked ? encodingOf(link) : undefined
  }

  /** The first content has come; only the first call counts. */
  committed(): void {
    this.#firstToken ??= this.clock.elapsed() - this.arrived
  }

  /** Writes the request off. Only the first call counts; it also closes the scope. */
  settle(outcome: Outcome): void {
    if (this.#settled) return
    this.#settled = true
    this.scope.close()
    const settlement: Settlement = {
      requestId: this.id,
      capability: this.#options.capability,
      stream: this.stream,
      media: this.media,
      model: this.#route?.model,
      served: outcome.served,
      status: outcome.status,
      errorCode: outcome.errorCode,
      usage: outcome.usage,
      searchUnits: outcome.searchUnits,
      latency: this.clock.elapsed() - this.arrived,
      timeToFirstToken: this.#firstToken,
      attempts: this.#attempts,
      metadata: this.#options.metadata,
    }
    this.#options.record(settlement, outcome.countable)
  }
}
