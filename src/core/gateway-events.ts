import type { AffinityResult } from './affinity.ts'
import type { UpstreamFailure } from './failure.ts'
import type { Model } from './provider.ts'

/**
 * The outcome of one upstream call: `success`, or the kind of its failure; `resent` when the
 * connection was lost at once and the same attempt sent the request again.
 */
export type AttemptOutcome = 'success' | 'resent' | UpstreamFailure['kind']

/** How the cache served a request: `bypass` when it was neither read nor written. */
export type CacheResult = 'hit' | 'miss' | 'bypass'

/** What a gateway reports besides finished requests. The metrics implement it; never throws. */
export interface GatewayEvents {
  /** A new configuration took over. */
  configApplied(): void
  /** A reload was refused or failed: the previous configuration keeps serving. */
  reloadFailed(): void
  /** This many rows of the usage log were dropped. */
  usageDropped(rows: number): void
  /** This many rows of the usage log could not be kept in the journal. */
  usageUnjournaled(rows: number): void
  /** A request carried a metadata header that broke a rule. */
  metadataRejected(): void
  /** An upstream call ended. */
  upstreamAttempted(link: Model, outcome: AttemptOutcome): void
  /** A stream was complete although none of its choices had given a finish reason. */
  streamUnfinished(link: Model): void
  /** The client of a stream got its headers before a link had sent content. */
  streamBegunEarly(): void
  /** A request came to a model while the cache is on. */
  cacheUsed(result: CacheResult): void
  /** A request of a session was served. */
  affinityUsed(result: AffinityResult): void
  /** The list of models of a provider was read, or could not be read. */
  modelsListed(provider: string, result: 'success' | 'failure'): void
  /** An answer was removed from the cache to make room for another. */
  cacheEvicted(): void
}

/** The events of single requests. */
export type RequestEvents = Pick<
  GatewayEvents,
  'metadataRejected' | 'upstreamAttempted' | 'streamUnfinished' | 'streamBegunEarly' | 'cacheUsed'
>

/** Discards everything, for requests that count nowhere. */
export const noRequestEvents: RequestEvents = Object.freeze({
  metadataRejected() {},
  upstreamAttempted() {},
  streamUnfinished() {},
  streamBegunEarly() {},
  cacheUsed() {},
})
