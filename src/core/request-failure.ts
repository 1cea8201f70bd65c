import type { FailedLink, RequestRecord } from './request-record.ts'

/** Why a request did not succeed at once, as its row keeps it. Nothing of it is content. */
export interface RequestFailure {
  /** Why the gateway refused the request by itself; null when it did not. */
  readonly reason: string | null
  /** The links that did not serve, in order. */
  readonly failed: readonly FailedLink[]
}

const none: RequestFailure = Object.freeze({ reason: null, failed: Object.freeze([]) })

/** What one row may hold: a chain has no other bound. */
const maxLinks = 16
/** In UTF-16 units. A reason may name a field that the client has chosen. */
const maxReasonLength = 300

/** Writes the failure of a request as JSON; null for most requests, which have none. */
export function writeFailure({
  refusal,
  failed,
}: Pick<RequestRecord, 'refusal' | 'failed'>): string | null {
  if (refusal === undefined && failed === undefined) return null
  return JSON.stringify({
    reason: refusal?.reason.slice(0, maxReasonLength),
    failed: failed
      ?.slice(0, maxLinks)
      .map((link) => ({ ...link, reason: link.reason.slice(0, maxReasonLength) })),
  })
}

/** Reads a failure that `writeFailure` has written. */
export function readFailure(text: string | null): RequestFailure {
  // The column only contains texts from `writeFailure`.
  return text === null ? none : { ...none, ...(JSON.parse(text) as Partial<RequestFailure>) }
}
