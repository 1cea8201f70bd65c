import type { BudgetScope } from '../core/accounts.ts'
import { GatewayError, noRetryHeader } from '../core/errors.ts'
import type { Millis, NanoUsd, UnixSeconds } from '../core/ids.ts'
import { toUsd } from '../core/money.ts'
import { asHeaderList, type HeaderList } from '../core/ports.ts'

/** A rate limit that a request exceeds. */
export interface ExceededRate {
  readonly scope: BudgetScope
  /** Per minute. */
  readonly limit: number
  readonly retryAfter: Millis
  readonly headers: HeaderList
}

/** LM-4002. With a limit of 0, clients are asked not to retry. */
export function tooManyRequests({ scope, limit, retryAfter, headers }: ExceededRate): GatewayError {
  const fields = { scope }
  if (limit > 0) {
    const message = `the ${scope}'s limit of ${limit} requests per minute is reached`
    return new GatewayError('LM-4002', message, { retryAfter, headers, fields })
  }
  const message = `the ${scope}'s request limit is 0: every request is refused`
  return new GatewayError('LM-4002', message, {
    retryAfter,
    headers: withoutRetry(headers),
    fields,
  })
}

/** LM-4003. When the request alone exceeds the limit, clients are asked not to retry. */
export function tooManyTokens(
  needed: number,
  { scope, limit, retryAfter, headers }: ExceededRate,
): GatewayError {
  const fields = { scope }
  if (needed <= limit) {
    const message = `the ${scope}'s limit of ${limit} tokens per minute is reached: this request needs ${needed}`
    return new GatewayError('LM-4003', message, { retryAfter, headers, fields })
  }
  const message = `this request needs ${needed} tokens; the ${scope} allows ${limit} per minute`
  return new GatewayError('LM-4003', message, {
    retryAfter,
    headers: withoutRetry(headers),
    fields,
  })
}

/** As many requests of a key or a group run as may run at once. */
export interface ExceededParallel {
  readonly scope: BudgetScope
  readonly limit: number
  readonly headers: HeaderList
}

/** LM-4006. With a limit of 0, clients are asked not to retry. */
export function tooManyAtOnce({ scope, limit, headers }: ExceededParallel): GatewayError {
  const fields = { scope }
  const retryAfter = 1_000
  if (limit > 0) {
    const message = `the ${scope}'s limit of ${limit} requests at once is reached`
    return new GatewayError('LM-4006', message, { retryAfter, headers, fields })
  }
  const message = `the ${scope}'s limit of requests at once is 0: every request is refused`
  return new GatewayError('LM-4006', message, {
    retryAfter,
    headers: withoutRetry(headers),
    fields,
  })
}

function withoutRetry(headers: HeaderList): HeaderList {
  return asHeaderList([...headers, ...noRetryHeader])
}

/** A budget that does not cover a request. */
export interface ExceededBudget {
  readonly scope: BudgetScope
  readonly budgetMax: NanoUsd
  readonly budgetSpent: NanoUsd
  readonly reserved: NanoUsd
  /** Null: the budget is never reset. */
  readonly resetsAt: UnixSeconds | null
  readonly now: Millis
}

/** LM-4001, for a request with an estimated cost of `needed`. Says when the budget is reset, if ever. */
export function overBudget(needed: bigint, exceeded: ExceededBudget): GatewayError {
  const { scope, budgetMax, budgetSpent, reserved, resetsAt, now } = exceeded
  const remaining = budgetMax - budgetSpent - reserved
  const message =
    remaining <= 0n
      ? `the ${scope}'s budget is exhausted`
      : needed > budgetMax
        ? `the ${scope}'s budget is below the estimated cost of this request`
        : `the ${scope}'s remaining budget is below the estimated cost of this request`
  return new GatewayError('LM-4001', message, {
    ...(resetsAt !== null && { retryAfter: resetsAt * 1000 - now }),
    fields: {
      scope,
      budget_max: toUsd(budgetMax),
      budget_spent: toUsd(budgetSpent),
      reserved: toUsd(reserved),
      ...(resetsAt !== null && { budget_resets_at: resetsAt }),
    },
  })
}
