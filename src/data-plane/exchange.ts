import type { Account } from '../core/accounts.ts'
import type { Admission, Principal, UsageEstimate } from '../core/admission.ts'
import type { Capability } from '../core/capability.ts'
import type { ErrorCode } from '../core/errors.ts'
import type { UpstreamFailure } from '../core/failure.ts'
import type { Millis, NanoUsd, RequestId } from '../core/ids.ts'
import type { Metadata } from '../core/metadata.ts'
import type { Clock, HeaderList, ImageFetchPort, Log, TokenEncoding } from '../core/ports.ts'
import type { Model, ModelRoute } from '../core/provider.ts'
import type { FailedLink, Media, RequestRecord } from '../core/request-record.ts'
import type { StreamClasses } from '../core/streams.ts'
import type { Usage } from '../core/usage.ts'
import { calculateCost } from '../pricing/index.ts'
import type { CallResult, ChainSetting, LostLink, Resilience } from '../resilience/index.ts'
import type { Snapshot } from '../snapshot/index.ts'
import { encodingOf, type TokenCountInput } from '../tokens/index.ts'
import { readBody } from '../wire/body.ts'
import type { Buffers, Share } from '../wire/buffers.ts'
import type { CancelScope } from '../wire/cancel-scope.ts'
import type { Intake, Place } from '../wire/intake.ts'
import { TimeSlice } from '../wire/time-slice.ts'
import { failedLink, logFailedAttempt } from './failed-links.ts'

export interface ExchangeOptions {
  readonly id: RequestId
  readonly capability: Capability
  readonly snapshot: Snapshot
  readonly scope: CancelScope
  readonly clock: Clock
  readonly log: Log
  readonly streams: StreamClasses
  /** Absent where the host cannot fetch images. */
  readonly imageFetch: ImageFetchPort | undefined
  readonly resilience: Resilience
  readonly metadata: Metadata
  readonly intake: Intake
  /** Someone can count exactly. */
  readonly canCount: boolean
  readonly record: (settlement: RequestRecord, recount: Recount | undefined) => void
  /** Told of every upstream call, when it is over. */
  readonly attempted: (link: Model, outcome: AttemptOutcome) => void
  /** Called for a stream that was complete although none of its choices gave a finish reason. */
  readonly unfinished: (link: Model) => void
}

/** What an exact count needs, and the admission that it may change the cost of. */
export interface Recount {
  readonly countable: TokenCountInput
  readonly admission: Admission
}

/**
 * What came of one upstream call: `success`, or the kind of its failure; `resent` when it was lost
 * at once and another took its place within the same attempt.
 */
export type AttemptOutcome = 'success' | 'resent' | UpstreamFailure['kind']

/** How a request has ended. */
export interface Outcome {
  readonly status: number
  readonly errorCode?: ErrorCode | undefined
  readonly served?: Model | undefined
  readonly usage?: Usage | undefined
  readonly searchUnits?: number | undefined
  /** Present where `usage` is an estimate that an exact count is to replace. */
  readonly countable?: TokenCountInput | undefined
}

/**
 * One request on its way through the data plane: what it was given to work with, and what there
 * will be to tell of it. It ends exactly once, through `settle`.
 */
export class Exchange {
  readonly id: RequestId
  readonly snapshot: Snapshot
  /** Ends when the client leaves or the process must stop. */
  readonly scope: CancelScope
  readonly clock: Clock
  readonly log: Log
  readonly streams: StreamClasses
  readonly imageFetch: ImageFetchPort | undefined
  readonly resilience: Resilience
  /** On the clock that never jumps. */
  readonly arrived: Millis
  stream = false
  media: Media | undefined
  readonly #options: ExchangeOptions
  readonly buffers: Buffers
  /** What the request holds of them. */
  readonly share: Share
  readonly #place: Place
  #caller: Principal | undefined
  #route: ModelRoute | undefined
  #account: Account | undefined
  #admission: Admission | undefined
  #firstToken: Millis | undefined
  #attempts = 0
  #asked: Model | undefined
  #failed: FailedLink[] | undefined
  #settled = false

  constructor(options: ExchangeOptions) {
    this.#options = options
    this.id = options.id
    this.snapshot = options.snapshot
    this.scope = options.scope
    this.clock = options.clock
    this.log = options.log
    this.streams = options.streams
    this.imageFetch = options.imageFetch
    this.resilience = options.resilience
    this.arrived = options.clock.elapsed()
    this.buffers = options.intake.buffers
    this.share = this.buffers.open(() => this.scope.end({ kind: 'slow-client' }))
    this.#place = options.intake.open(this.share)
  }

  /** Lets others work between the stretches of a long computation. */
  get pace(): TimeSlice {
    return new TimeSlice(this.clock, this.scope)
  }

  get settled(): boolean {
    return this.#settled
  }

  /**
   * The whole body of the request, when it may be read and parsed; the wait for it ends with the
   * exchange. Large bodies are parsed one at a time: the next one after the call of `parsed`.
   */
  async body(request: Request): Promise<Uint8Array> {
    const place = this.#place
    const wait = (turn: Promise<void>) => this.#wait(turn)
    const reading = { limit: this.snapshot.bodyLimit, place, wait }
    const bytes = await this.scope.race(readBody(request, reading))
    const admitted = place.parse()
    if (admitted) await wait(admitted)
    return bytes
  }

  /** Nothing that the body was parsed into is held any longer. */
  parsed(): void {
    this.#place.parsed()
  }

  /** The bytes of the body are not needed any longer. */
  bodyUsed(): void {
    this.#place.end()
  }

  /** The request has shown who sends it. */
  identified(caller: Principal): void {
    this.#caller = caller
  }

  /** The request has named a model that can serve it. */
  routed(route: ModelRoute): void {
    this.#route = route
  }

  /** Asks for admission: nothing that costs is done before. Throws LM-4002, LM-4003 or LM-4001. */
  admit(route: ModelRoute, demand: () => UsageEstimate): void {
    if (!this.#caller) throw new Error('nobody has been identified')
    this.#account = this.#caller.account
    this.#admission = this.#caller.admit(route, demand)
  }

  /** What a chain needs of this exchange to serve it. */
  chainOf(route: ModelRoute, whyUnable?: ChainSetting['whyUnable']): ChainSetting {
    const { scope, clock, arrived, resilience } = this
    const onLost = (lost: LostLink) => this.#lose(lost)
    return { route, scope, clock, arrived, resilience, whyUnable, onLost }
  }

  /** The headers of an answer that this link has served. */
  headersOf({ id, provider }: Model): HeaderList {
    const served = [
      'x-gateway-model-used',
      id,
      'x-gateway-provider',
      provider.name,
      attemptsHeader,
      String(this.#attempts),
    ]
    return this.#admission ? [...served, ...this.#admission.headers] : served
  }

  /** The headers of an answer that no link has served. */
  get errorHeaders(): HeaderList {
    return [attemptsHeader, String(this.#attempts)]
  }

  /** An attempt is over. Without a credential it made no upstream call. */
  attempted(link: Model, attempt: CallResult<unknown>): void {
    if (attempt.resent) this.#called(link, 'resent')
    const outcome = attempt.ok ? 'success' : attempt.failure.kind
    if (outcome !== 'no-credential') this.#called(link, outcome)
    if (!attempt.ok) this.#logFailure(link, attempt.failure)
  }

  /** The stream of the link that serves has died after its start. */
  brokeOff(link: Model, failure: UpstreamFailure): void {
    this.#logFailure(link, failure)
    const before = (this.#failed ?? []).reduce((sum, { attempts }) => sum + attempts, 0)
    this.#lose({ link, failure, attempts: this.#attempts - before })
  }

  #logFailure(link: Model, failure: UpstreamFailure): void {
    const { id, log } = this
    logFailedAttempt(log, { id, link, failure, attempt: this.#attempts })
  }

  #lose(lost: LostLink): void {
    const failed = failedLink(lost)
    if (failed) (this.#failed ??= []).push(failed)
  }

  #called(link: Model, outcome: AttemptOutcome): void {
    this.#attempts++
    this.#asked = link
    this.#options.attempted(link, outcome)
  }

  /** How to count exactly what a link has served; undefined where that is not to be done. */
  encodingOf(link: Model): TokenEncoding | undefined {
    const isAsked = this.snapshot.tokenizer === 'accurate' && this.#options.canCount
    return isAsked ? encodingOf(link) : undefined
  }

  /** The first content has come; only the first call counts. */
  committed(): void {
    this.#firstToken ??= this.clock.elapsed() - this.arrived
  }

  /** The stream of this link has ended with `[DONE]`, and none of its choices gave a finish reason. */
  unfinished(link: Model): void {
    const { id: model, provider } = link
    this.log.write('warn', 'a stream has ended without a finish reason: it may be cut off', {
      request_id: this.id,
      model,
      provider: provider.name,
    })
    this.#options.unfinished(link)
  }

  /** Writes the request off. Only the first call counts; it also closes the scope. */
  settle(outcome: Outcome): void {
    if (this.#settled) return
    this.#settled = true
    this.scope.close()
    this.#place.end()
    this.share.close()
    const cost = this.#charge(outcome)
    const settlement: RequestRecord = {
      requestId: this.id,
      keyId: this.#caller?.account?.keyId,
      account: this.#account,
      cost,
      capability: this.#options.capability,
      stream: this.stream,
      media: this.media,
      model: this.#route?.model,
      served: outcome.served,
      asked: this.#asked,
      failed: this.#failed,
      status: outcome.status,
      errorCode: outcome.errorCode,
      usage: outcome.usage,
      searchUnits: outcome.searchUnits,
      latency: this.clock.elapsed() - this.arrived,
      timeToFirstToken: this.#firstToken,
      attempts: this.#attempts,
      metadata: this.#options.metadata,
    }
    const { countable } = outcome
    const admission = this.#admission
    this.#options.record(settlement, countable && admission && { countable, admission })
  }

  /** Waits in line with other bodies, at most as long as a request may take. */
  #wait(turn: Promise<void>): Promise<void> {
    const left = this.arrived + this.snapshot.totalTimeout - this.clock.elapsed()
    const stop = this.scope.endAfter(left, { kind: 'timeout', limit: 'total' })
    return this.scope.race(turn).finally(stop)
  }

  /** Ends the admission. What fails after it keeps its tokens a minute and pays for what it used. */
  #charge({ status, errorCode, served, usage, searchUnits }: Outcome): NanoUsd {
    // What made an upstream call is accounted, whatever came of it.
    if (this.#attempts === 0 && isNotAccounted(errorCode)) {
      this.#admission?.withdraw()
      this.#account = undefined
    }
    const isCharged = this.#account && served && usage
    const cost = isCharged ? calculateCost(served.prices, usage, searchUnits) : free
    this.#admission?.settle({ cost, tokens: status === 200 ? usage?.totalTokens : undefined })
    return cost
  }
}

const attemptsHeader = 'x-gateway-attempts'

const free = 0n as NanoUsd

/** A request that is malformed, or that its model cannot serve, leaves no trace in any account. */
function isNotAccounted(code: ErrorCode | undefined): boolean {
  return code !== undefined && /^LM-[12]/.test(code)
}
