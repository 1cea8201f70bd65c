import type { CheckedRequest } from './admission-request.ts'
import { overBudget, tooManyAtOnce, tooManyRequests, tooManyTokens } from './limit-errors.ts'
import { buildRateHeaders } from './rate-headers.ts'

/*
 * The steps of an admission. Each checks the key, then its group, and changes no count.
 */

/** Throws LM-4002 when an account has used up its requests of this minute. */
export function checkRequests({ accounts, now }: TimedAccounts): void {
  for (const { scope, record, requests } of accounts) {
    const limit = record.rpmLimit
    if (limit === null || requests.used(now) < limit) continue
    const headers = buildRateHeaders(accounts, now)
    throw tooManyRequests({ scope, limit, retryAfter: requests.endsIn(now), headers })
  }
}

/** Whether `checkRequests` would throw. */
export function hasUsedRequests({ accounts, now }: TimedAccounts): boolean {
  return accounts.some(
    ({ record: { rpmLimit }, requests }) => rpmLimit !== null && requests.used(now) >= rpmLimit,
  )
}

type TimedAccounts = Pick<CheckedRequest, 'accounts' | 'now'>

/** Throws LM-4003 when an account has fewer than `needed` tokens left in this minute. */
export function checkTokens(needed: number, { accounts, now }: CheckedRequest): void {
  for (const { scope, record, tokens } of accounts) {
    const limit = record.tpmLimit
    if (limit === null || tokens.used(now) + needed <= limit) continue
    const headers = buildRateHeaders(accounts, now)
    throw tooManyTokens(needed, { scope, limit, retryAfter: tokens.endsIn(now), headers })
  }
}

/** Throws LM-4006 when as many requests of an account run as may run at once. */
export function checkParallel({ accounts, now }: CheckedRequest): void {
  for (const { scope, record, running } of accounts) {
    const limit = record.maxParallel
    if (limit === null || running < limit) continue
    throw tooManyAtOnce({ scope, limit, headers: buildRateHeaders(accounts, now) })
  }
}

/** Throws LM-4001 when a budget has nothing left, or less than `needed` nano-dollars. */
export function checkBudgets(needed: bigint, { accounts, now, observer }: CheckedRequest): void {
  for (const account of accounts) {
    const { scope, record, spent, reserved, headroom, term } = account
    const { budgetMax } = record
    if (budgetMax === null || headroom === undefined) continue
    if (headroom > 0n && headroom >= needed) continue
    observer.refused(account)
    const { resetsAt } = term
    throw overBudget(needed, { scope, budgetMax, budgetSpent: spent, reserved, resetsAt, now })
  }
}
