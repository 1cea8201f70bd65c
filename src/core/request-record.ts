import type { Account } from './accounts.ts'
import type { Capability } from './capability.ts'
import type { ErrorCode } from './errors.ts'
import type { Bytes, KeyId, Millis, NanoUsd, RequestId } from './ids.ts'
import type { Metadata } from './metadata.ts'
import type { Model } from './provider.ts'
import type { Usage } from './usage.ts'

/** The images of a request. */
export interface Media {
  readonly count: number
  readonly bytes: Bytes
}

/** A link of a chain that did not serve, in the words of the log. */
export interface FailedLink {
  readonly model: string
  readonly provider: string
  readonly reason: string
  readonly attempts: number
}

/** What is known of a finished request. Written once, at its end, whatever the end was. */
export interface RequestRecord {
  readonly requestId: RequestId
  /** Whose request it was; undefined without auth, and where no valid key was shown. */
  readonly keyId: KeyId | undefined
  /** Who is charged; undefined without auth, and for requests that are not accounted. */
  readonly account: Account | undefined
  readonly cost: NanoUsd
  readonly capability: Capability
  readonly stream: boolean
  /** The model asked for; undefined when the request never got so far. */
  readonly model: Model | undefined
  /** The link that served; undefined when nobody did. */
  readonly served: Model | undefined
  /** The link that was called last; undefined when none was. */
  readonly lastCalled: Model | undefined
  /** The links that did not serve, in order; undefined when there are none. */
  readonly failed: readonly FailedLink[] | undefined
  /** The HTTP status; after the commit of a stream, the status that its end amounts to. */
  readonly status: number
  readonly errorCode: ErrorCode | undefined
  readonly usage: Usage | undefined
  /** What rerank is billed by; undefined for everything else. */
  readonly searchUnits: number | undefined
  /** Undefined where they are not counted. */
  readonly media: Media | undefined
  readonly latency: Millis
  /** From the request's arrival to the first content of its stream. */
  readonly timeToFirstToken: Millis | undefined
  /** Upstream calls, over all links. */
  readonly attempts: number
  readonly metadata: Metadata
}

/** Someone who keeps account of finished requests: metrics, the log, the usage record. Never throws. */
export type RecordSink = (settlement: RequestRecord) => void
