import type { Millis } from '../core/ids.ts'
import type { KeyEntry } from './budget.ts'

export type RateHeaders = Readonly<Record<string, string>>

const none: RateHeaders = Object.freeze({})

/** What is left of the limits of a key in this minute. A limit that is not set has no headers. */
export function rateHeaders({ record, requests, tokens }: KeyEntry, now: Millis): RateHeaders {
  const { rpmLimit, tpmLimit } = record
  if (rpmLimit === null && tpmLimit === null) return none
  const headers: Record<string, string> = {}
  if (rpmLimit !== null) {
    headers['x-ratelimit-limit-requests'] = String(rpmLimit)
    headers['x-ratelimit-remaining-requests'] = left(rpmLimit, requests.used(now))
  }
  if (tpmLimit !== null) {
    headers['x-ratelimit-limit-tokens'] = String(tpmLimit)
    headers['x-ratelimit-remaining-tokens'] = left(tpmLimit, tokens.used(now))
  }
  return headers
}

/** An answer may have used more than its request asked for. */
function left(limit: number, used: number): string {
  return String(Math.max(0, limit - used))
}
