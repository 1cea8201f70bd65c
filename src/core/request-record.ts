import type { Account, BudgetScope } from './accounts.ts'
import type { BilledAnswer, IdentifiedPrices } from './bill.ts'
import type { BudgetTerm } from './budget-period.ts'
import type { Api, Capability } from './capability.ts'
import type { ErrorCode } from './errors.ts'
import type { UpstreamFailure } from './failure.ts'
import type { Bytes, GroupId, KeyId, Millis, NanoUsd, RequestId } from './ids.ts'
import type { Metadata } from './metadata.ts'
import type { Model } from './provider.ts'
import type { NamedRoute } from './route.ts'
import type { SwitchStep } from './switch.ts'
import type { Usage } from './usage.ts'

/** The images of a request. */
export interface Media {
  readonly count: number
  readonly bytes: Bytes
}

/** A link of a chain that did not serve, as the log describes it. Nothing of it is content. */
export interface FailedLink {
  readonly model: string
  readonly provider: string
  /** In words, as a predicate of the provider's name. */
  readonly reason: string
  readonly attempts: number
  /** `untranslatable`: the link cannot express the request. */
  readonly failure: UpstreamFailure['kind'] | 'untranslatable'
  /** The status of the upstream's answer; undefined for a failure without one. */
  readonly status?: number | undefined
  /** The vendor's own code, or that of the network failure. */
  readonly code?: string | undefined
}

/** Why the gateway refused a request by itself, for its operators. Nothing of it is content. */
export interface RecordedRefusal {
  /** The sentence of the error. */
  readonly reason: string
  /** The model that the request names, when no model or route of this name was found for it. */
  readonly model: string | undefined
  /** Whose limit or budget it is; undefined when there is none to blame. */
  readonly scope: BudgetScope | undefined
  /** The group whose limit or budget it is. */
  readonly groupId: GroupId | undefined
}

/** What the price of an answer was found by. */
export interface RecordPrice {
  /** The entries of the configuration that held, in ASCII; undefined for the base. */
  readonly label: string | undefined
  /** What the answer says, or else what was assumed; undefined where neither is known. */
  readonly tier: string | undefined
  readonly geo: string | undefined
  /** A part ran on a model whose prices are not known. */
  readonly isApproximate: boolean
  /** What the counts cost by the prices, where the cost is to be what the vendor reports. */
  readonly calculated: NanoUsd | undefined
  /** The cost is what the vendor reports. */
  readonly isReported: boolean
  /** At which all counts of the usage are charged; undefined where nothing is, and with `answers`. */
  readonly prices: IdentifiedPrices | undefined
  /** The answers, each by its parts, where the counts are at several prices or rounded apart. */
  readonly answers: readonly BilledAnswer[] | undefined
}

/** An upstream call that is charged. */
export interface ChargedCall {
  readonly link: Model
  readonly usage: Usage
  /** By the prices of the link; 0 where it has none. */
  readonly cost: NanoUsd
}

/** The record of a finished request. Each request has one, however it ended. */
export interface RequestRecord {
  readonly requestId: RequestId
  /** The key that the request came with; undefined without auth, and without a valid key. */
  readonly keyId: KeyId | undefined
  /** The account that is charged; undefined without auth, and for requests that are not accounted. */
  readonly account: Account | undefined
  /** The terms of the budgets that are charged; undefined for a request that was not admitted. */
  readonly keyTerm: BudgetTerm | undefined
  readonly groupTerm: BudgetTerm | undefined
  /** By the prices of the models that answered; charged to the account, if there is one. */
  readonly cost: NanoUsd
  /** The most that the request was expected to cost, which its budgets reserved; undefined without a cap. */
  readonly reserved: NanoUsd | undefined
  /** How the price was found; undefined when nothing was answered, or by a model without prices. */
  readonly price: RecordPrice | undefined
  readonly api: Api
  readonly capability: Capability
  readonly stream: boolean
  /** The model or the route that the request names; undefined when the request failed before it was resolved. */
  readonly model: NamedRoute | undefined
  /** The switches that have chosen the route of the request, in order; absent for most requests. */
  readonly switched?: readonly SwitchStep[] | undefined
  /** The link that served; undefined when none did. */
  readonly served: Model | undefined
  /** The link that was called last; undefined when none was. */
  readonly lastCalled: Model | undefined
  /** The links that did not serve, in order; undefined when there are none. */
  readonly failed: readonly FailedLink[] | undefined
  /** Undefined unless the gateway refused the request by itself. */
  readonly refusal: RecordedRefusal | undefined
  /** The HTTP status; for a failed stream, the status of the error in its terminal frame. */
  readonly status: number
  readonly errorCode: ErrorCode | undefined
  /** Of all calls that are charged. */
  readonly usage: Usage | undefined
  /** The calls that are charged, in order; absent unless one of them has failed. */
  readonly charged?: readonly ChargedCall[] | undefined
  /** The unit that rerank is billed by; undefined for other capabilities. */
  readonly searchUnits: number | undefined
  /** The questions for decisions that the model refused to answer; absent for other capabilities. */
  readonly refusals?: number | undefined
  /** Undefined where images are not counted. */
  readonly media: Media | undefined
  readonly latency: Millis
  /** The part of it that the request has waited for room at upstreams; undefined when it has not. */
  readonly queued: Millis | undefined
  /** From the request's arrival to the first content of its stream. */
  readonly timeToFirstToken: Millis | undefined
  /** The answer came from the cache. */
  readonly cacheHit: boolean
  /** Upstream calls, over all links. */
  readonly attempts: number
  readonly metadata: Metadata
}

/** Receives the records of finished requests: metrics, request log, usage log. Never throws. */
export type RecordSink = (record: RequestRecord) => void
