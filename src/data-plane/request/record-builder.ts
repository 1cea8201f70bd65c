import type { Account } from '../../core/accounts.ts'
import type { Admission, Extension, Principal } from '../../core/admission.ts'
import { type Api, capabilityOf } from '../../core/capability.ts'
import type { ErrorCode } from '../../core/errors.ts'
import type { UpstreamFailure } from '../../core/failure.ts'
import type { AttemptOutcome, RequestEvents } from '../../core/gateway-events.ts'
import type { Millis, NanoUsd, RequestId } from '../../core/ids.ts'
import type { Metadata } from '../../core/metadata.ts'
import type { Clock, Log } from '../../core/ports.ts'
import type { PriceAsk } from '../../core/price-table.ts'
import type { Model } from '../../core/provider.ts'
import type {
  FailedLink,
  Media,
  RecordedRefusal,
  RequestRecord,
} from '../../core/request-record.ts'
import type { SwitchStep } from '../../core/switch.ts'
import type { Usage } from '../../core/usage.ts'
import { type AnsweredRequest, type AnswerPrice, priceAnswer } from '../../pricing/index.ts'
import {
  type CallBill,
  type CallResult,
  isLinkFault,
  type LinkFailure,
  type ParkedCredential,
} from '../../resilience/index.ts'
import type { LinkRun, Traffic } from '../../routing/index.ts'
import type { TokenCountInput } from '../../tokens/index.ts'
import type { RequestTrace } from '../../traces/index.ts'
import type { CacheUse } from '../cache/use.ts'
import { type BilledCall, sumCalls } from './charged-calls.ts'
import { logFailedAttempt, logParked, toFailedLink } from './failed-links.ts'
import { HeldPlaces } from './held-places.ts'

/** An exact count that is still to be made, and the admission whose cost it adjusts. */
export interface PendingCount {
  readonly input: TokenCountInput
  readonly admission: Admission
  /** The usage of the answer itself, of which a side is to be counted. */
  readonly usage: Usage
  /** The calls that failed, and are charged too. */
  readonly failed: readonly BilledCall[]
  /** What the price of the request depends on. */
  readonly ask: PriceAsk | undefined
  readonly sentAt: Millis | undefined
}

/** How a request has ended. */
export interface RequestOutcome {
  readonly status: number
  readonly errorCode?: ErrorCode | undefined
  readonly refusal?: RecordedRefusal | undefined
  readonly served?: Model | undefined
  readonly usage?: Usage | undefined
  readonly searchUnits?: number | undefined
  /** The questions that the model refused to answer. */
  readonly refusals?: number | undefined
  /** Called only when the gateway has estimated `usage`. Absent where an exact count is not made. */
  readonly toCountInput?: (() => TokenCountInput) | undefined
}

export interface RecordBuilderOptions {
  readonly id: RequestId
  readonly api: Api
  readonly metadata: Metadata
  readonly clock: Clock
  readonly log: Log
  readonly events: RequestEvents
  readonly traffic: Traffic
  readonly trace: RequestTrace
  /** Called once: releases what the request holds. */
  readonly release: () => void
  /** Called once, after `release`, with the finished record. */
  readonly emit: (record: RequestRecord, pending: PendingCount | undefined) => void
}

/**
 * Collects the record of one request while the request runs. `finish` ends the request: it releases
 * what the request holds, settles its admission and emits the record.
 */
export class RecordBuilder {
  /** When the request arrived, on the clock that never jumps. */
  readonly arrived: Millis
  principal: Principal | undefined
  /** The model or the route that the request names. */
  model: RequestRecord['model']
  /** The switches that have chosen the route; undefined unless the request names one. */
  switched: readonly SwitchStep[] | undefined
  /** The model that the request names, before it is resolved. */
  asked: string | undefined
  /** The body until the model that it names has been read, for the record of a body that cannot be read. */
  unread: Uint8Array | undefined
  stream = false
  media: Media | undefined
  account: Account | undefined
  admission: Admission | undefined
  /** Undefined while the cache is off. */
  cache: CacheUse | undefined
  /** Undefined where the prices of no link depend on it. */
  ask: PriceAsk | undefined
  readonly places = new HeldPlaces()
  readonly #options: RecordBuilderOptions
  /** When the last call was sent, on the wall clock; undefined for a link without a table of prices. */
  #sentAt: Millis | undefined
  #price: AnswerPrice | undefined
  #timeToFirstToken: Millis | undefined
  #attempts = 0
  #lastCalled: Model | undefined
  #failed: FailedLink[] | undefined
  #billed: readonly BilledCall[] = noCalls
  #mayCallAgain: boolean | Promise<boolean> = true
  #run: LinkRun | undefined
  #isFinished = false

  constructor(options: RecordBuilderOptions) {
    this.#options = options
    this.arrived = options.clock.elapsed()
  }

  get metadata(): Metadata {
    return this.#options.metadata
  }

  get isFinished(): boolean {
    return this.#isFinished
  }

  /** Upstream calls so far, over all links. */
  get attempts(): number {
    return this.#attempts
  }

  /** False once failed calls are charged, and the budget has no room for another one. */
  get mayCallAgain(): boolean | Promise<boolean> {
    return this.#mayCallAgain
  }

  /** Records that the request moves on to a link. */
  startLink(link: Model): void {
    this.#run?.end()
    this.#run = this.#options.traffic.begin(link, this.stream)
    this.markSent(link)
  }

  /** Records when a call to a link is sent. */
  markSent({ priceTable }: Model): void {
    this.#sentAt = priceTable && this.#options.clock.now()
  }

  /** The entries of the prices that the answer was priced by, in ASCII. Undefined for the base. */
  get priceLabel(): string | undefined {
    return this.#price?.label
  }

  /** Records that the link has answered. */
  markServed(): void {
    this.#run?.markServed()
  }

  /** Records one attempt. An attempt without a credential made no upstream call. */
  addAttempt(link: Model, result: CallResult<unknown>): void {
    if (result.resent) this.#addCall(link, 'resent')
    const outcome = result.ok ? 'success' : result.failure.kind
    if (outcome !== 'no-credential') this.#addCall(link, outcome)
    if (result.ok) return
    this.#logFailure(link, result.failure)
    if (result.usage) this.addUnused(link, [{ usage: result.usage, searchUnits: undefined }])
  }

  /** Records what the vendor bills for calls whose answers are not used, and reserves as much again for the next one. */
  addUnused(link: Model, calls: readonly CallBill[]): void {
    const billed = calls.map((call) => ({
      link,
      usage: call.usage,
      price: this.#priceCall(link, call),
    }))
    this.#billed = [...this.#billed, ...billed]
    const cost = billed.reduce((sum, { price }) => sum + (price?.cost ?? 0n), 0n)
    if (cost === 0n || this.#mayCallAgain === false) return
    const extension = this.admission?.extend(cost as NanoUsd) ?? 'reserved'
    this.#mayCallAgain =
      typeof extension === 'string'
        ? this.#isReserved(link, extension)
        : extension.then((outcome) => this.#isReserved(link, outcome))
  }

  /** Whether another call is reserved; logs why it is not. */
  #isReserved(link: Model, extension: Extension): boolean {
    if (extension === 'reserved') return true
    const { id, log } = this.#options
    log.write('warn', refusals[extension], {
      request_id: id,
      key_id: this.principal?.account?.keyId,
      model: link.id,
    })
    return false
  }

  /** Logs a credential that is parked. */
  addParked(link: Model, parked: ParkedCredential): void {
    const { id, log } = this.#options
    logParked(log, { id, link, parked })
  }

  /** Records a link that did not serve. */
  addLinkFailure(failure: LinkFailure): void {
    if ('failure' in failure && failure.failure.kind !== 'no-room') this.#leaveLink(failure.failure)
    const failed = toFailedLink(failure)
    if (failed) (this.#failed ??= []).push(failed)
  }

  /** Records that the stream of the serving link failed after its first content. */
  addStreamFailure(link: Model, failure: UpstreamFailure): void {
    this.#logFailure(link, failure)
    this.#options.trace.failStream(failure)
    const before = (this.#failed ?? []).reduce((sum, { attempts }) => sum + attempts, 0)
    this.addLinkFailure({ link, failure, attempts: this.#attempts - before })
  }

  /** Logs and counts a stream that ended with `[DONE]` although no choice gave a finish reason. */
  addUnfinishedStream(link: Model): void {
    const { id, log, events } = this.#options
    log.write('warn', 'a stream has ended without a finish reason: it may be cut off', {
      request_id: id,
      model: link.id,
      provider: link.provider.name,
    })
    events.streamUnfinished(link)
  }

  /** Counts a stream whose client has its headers before a link has sent content. */
  markEarly(): void {
    this.#options.events.streamBegunEarly()
  }

  /** Undoes the admission, before another one takes its place. */
  withdrawAdmission(): void {
    this.admission?.withdraw()
    this.admission = undefined
    this.account = undefined
  }

  /** Records the arrival of the first content. Only the first call counts. */
  markFirstToken(): void {
    this.#timeToFirstToken ??= this.#options.clock.elapsed() - this.arrived
  }

  /**
   * Ends the request. Only the first call counts. Returns the cost of the answer, charged or not; undefined
   * when nothing was answered, or by a model without prices.
   */
  finish(given: RequestOutcome): NanoUsd | undefined {
    if (this.#isFinished) return undefined
    const outcome = this.cache?.slot?.hasClientLeft ? { ...given, ...clientLeft } : given
    const { served, usage, searchUnits, refusals, toCountInput } = outcome
    const input = usage?.estimatedSide && toCountInput?.()
    this.#isFinished = true
    const { id, api, metadata, clock, trace, release, emit } = this.#options
    this.#run?.end()
    this.places.end()
    release()
    this.cache?.slot?.close()
    const answered =
      served && usage
        ? { link: served, usage, price: this.#priceCall(served, { usage, searchUnits }) }
        : undefined
    const sum = sumCalls(this.#billed, answered)
    this.#price = sum?.price
    const price = this.#price?.cost
    const cost = this.#settle(outcome, sum?.usage, price)
    const record: RequestRecord = {
      requestId: id,
      keyId: this.principal?.account?.keyId,
      account: this.account,
      keyTerm: this.admission?.keyTerm,
      groupTerm: this.admission?.groupTerm,
      cost,
      reserved: this.admission?.reserved,
      price: this.#price,
      api,
      capability: capabilityOf[api],
      stream: this.stream,
      media: this.media,
      model: this.model,
      switched: this.switched,
      served,
      lastCalled: this.#lastCalled,
      failed: this.#failed,
      refusal: outcome.refusal,
      status: outcome.status,
      errorCode: outcome.errorCode,
      usage: sum?.usage ?? usage,
      charged: sum?.charged,
      searchUnits,
      refusals,
      latency: clock.elapsed() - this.arrived,
      queued: this.places.queued,
      timeToFirstToken: this.#timeToFirstToken,
      cacheHit: this.#isHit,
      attempts: this.#attempts,
      metadata,
    }
    trace.end(record)
    emit(record, input && usage && this.#toPending(input, usage))
    return price
  }

  /**
   * Settles the admission and returns the cost. A request that fails after its admission keeps its
   * TPM debit and is charged for what it used.
   */
  #settle(
    { status, errorCode }: RequestOutcome,
    usage: Usage | undefined,
    price: NanoUsd = free,
  ): NanoUsd {
    // A request that made an upstream call is accounted, even when it failed.
    if (this.#attempts === 0 && isNotAccounted(errorCode)) {
      this.admission?.withdraw()
      this.account = undefined
    }
    this.admission?.settle({ cost: price, tokens: status === 200 ? usage?.totalTokens : undefined })
    return price
  }

  #priceCall(
    link: Model,
    { usage, searchUnits }: Pick<AnsweredRequest, 'usage' | 'searchUnits'>,
  ): AnswerPrice | undefined {
    if (!link.isPriced && !link.isCostReported) return undefined
    if (this.#isHit) return freeOfCharge
    return priceAnswer(link, { usage, searchUnits, ask: this.ask, sentAt: this.#sentAt })
  }

  #toPending(input: TokenCountInput, usage: Usage): PendingCount | undefined {
    const { admission, ask } = this
    if (!admission) return undefined
    return { input, admission, usage, failed: this.#billed, ask, sentAt: this.#sentAt }
  }

  get #isHit(): boolean {
    return this.cache?.result === 'hit'
  }

  #leaveLink(failure: UpstreamFailure): void {
    if (isLinkFault(failure)) this.#run?.markFailed()
    this.#run?.end()
    this.places.release()
  }

  #addCall(link: Model, outcome: AttemptOutcome): void {
    this.#attempts++
    this.#lastCalled = link
    this.#options.events.upstreamAttempted(link, outcome)
  }

  #logFailure(link: Model, failure: UpstreamFailure): void {
    const { id, log } = this.#options
    logFailedAttempt(log, { id, link, failure, attempt: this.#attempts })
  }
}

const noCalls: readonly BilledCall[] = Object.freeze([])

/** Why a request whose attempt has failed makes no other one. */
const refusals = Object.freeze({
  'no-room': 'the budget has no room for another attempt',
  unavailable: 'the shared state cannot be used to reserve another attempt',
})

const free = 0n as NanoUsd

/** The price of an answer from the cache. */
const freeOfCharge: AnswerPrice = Object.freeze({
  cost: free,
  label: undefined,
  tier: undefined,
  geo: undefined,
  isApproximate: false,
  calculated: undefined,
  isReported: false,
  prices: undefined,
  answers: undefined,
})

/** What the record of a request says whose client has left, whatever became of its call. */
const clientLeft = Object.freeze({ status: 499, errorCode: 'LM-6001' } as const)

/** A request that is malformed, or that its model cannot serve, leaves no trace in any account. */
function isNotAccounted(code: ErrorCode | undefined): boolean {
  return code !== undefined && /^LM-[12]/.test(code)
}
