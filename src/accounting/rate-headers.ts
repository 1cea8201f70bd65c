import type { Millis } from '../core/ids.ts'
import { asHeaderList, type HeaderList } from '../core/ports.ts'
import type { AccountEntry } from './account-entry.ts'

/**
 * Builds the headers for the limits of a key and its group in the current minute. They show the limit
 * that has less left; if both have the same left, that of the key. An unset limit has none.
 */
export function buildRateHeaders(accounts: readonly AccountEntry[], now: Millis): HeaderList {
  const headers: string[] = []
  for (const { unit, field, limitName, remainingName } of rates) {
    let limit = 0
    let remaining = Number.POSITIVE_INFINITY
    for (const account of accounts) {
      const own = account.record[field]
      if (own === null) continue
      // Not below 0: an answer may use more tokens than its request was estimated to need.
      const left = Math.max(0, own - account[unit].used(now))
      if (left >= remaining) continue
      limit = own
      remaining = left
    }
    if (remaining === Number.POSITIVE_INFINITY) continue
    headers.push(limitName, String(limit), remainingName, String(remaining))
  }
  return asHeaderList(headers)
}

const rates = [
  {
    unit: 'requests',
    field: 'rpmLimit',
    limitName: 'x-ratelimit-limit-requests',
    remainingName: 'x-ratelimit-remaining-requests',
  },
  {
    unit: 'tokens',
    field: 'tpmLimit',
    limitName: 'x-ratelimit-limit-tokens',
    remainingName: 'x-ratelimit-remaining-tokens',
  },
] as const
