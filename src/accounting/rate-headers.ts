import type { Millis } from '../core/ids.ts'
import { asHeaderList, type HeaderList } from '../core/ports.ts'
import type { KeyEntry } from './budget.ts'

/** Builds the headers for the limits of a key in the current minute. An unset limit has none. */
export function buildRateHeaders({ record, requests, tokens }: KeyEntry, now: Millis): HeaderList {
  const { rpmLimit, tpmLimit } = record
  const headers: string[] = []
  if (rpmLimit !== null) {
    const remaining = formatRemaining(rpmLimit, requests.used(now))
    headers.push('x-ratelimit-limit-requests', String(rpmLimit))
    headers.push('x-ratelimit-remaining-requests', remaining)
  }
  if (tpmLimit !== null) {
    const remaining = formatRemaining(tpmLimit, tokens.used(now))
    headers.push('x-ratelimit-limit-tokens', String(tpmLimit))
    headers.push('x-ratelimit-remaining-tokens', remaining)
  }
  return asHeaderList(headers)
}

/**
 * Never below 0, although a response may use more tokens than its request was estimated to need.
 */
function formatRemaining(limit: number, used: number): string {
  return String(Math.max(0, limit - used))
}
