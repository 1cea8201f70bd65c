import type { BudgetScope } from '../core/accounts.ts'
import { GatewayError, noRetryHeader } from '../core/errors.ts'
import type { Millis, NanoUsd } from '../core/ids.ts'
import { toUsd } from '../core/money.ts'
import type { HeaderList } from '../core/ports.ts'

export interface ExceededRate {
  readonly limit: number
  readonly retryAfter: Millis
  readonly headers: HeaderList
}

/** LM-4002. A limit of 0 admits nothing, however long the client waits. */
export function tooManyRequests({ limit, retryAfter, headers }: ExceededRate): GatewayError {
  if (limit > 0) {
    const message = `the key's limit of ${limit} requests a minute is reached`
    return new GatewayError('LM-4002', message, { retryAfter, headers })
  }
  const message = 'one request is over the whole limit of the key, which is 0 requests a minute'
  return new GatewayError('LM-4002', message, {
    retryAfter,
    headers: [...headers, ...noRetryHeader],
  })
}

/** LM-4003. A request over the whole limit by itself is told so: waiting does not help it. */
export function tooManyTokens(
  needed: number,
  { limit, retryAfter, headers }: ExceededRate,
): GatewayError {
  if (needed <= limit) {
    const message = `the key's limit of ${limit} tokens a minute is reached: this request needs ${needed}`
    return new GatewayError('LM-4003', message, { retryAfter, headers })
  }
  const message = `this request needs ${needed} tokens, which is over the whole limit of the key: ${limit} tokens a minute`
  return new GatewayError('LM-4003', message, {
    retryAfter,
    headers: [...headers, ...noRetryHeader],
  })
}

export interface ExceededBudget {
  readonly scope: BudgetScope
  readonly budgetMax: NanoUsd
  readonly budgetSpent: NanoUsd
  readonly reserved: NanoUsd
}

/** LM-4001, for a request that may cost `needed`. */
export function overBudget(needed: bigint, refusal: ExceededBudget): GatewayError {
  const { scope, budgetMax, budgetSpent, reserved } = refusal
  const left = budgetMax - budgetSpent - reserved
  const rule =
    left <= 0n
      ? 'is exhausted'
      : needed > budgetMax
        ? 'is less than this request alone may cost'
        : 'has less left than this request may cost'
  return new GatewayError('LM-4001', `the ${scope}'s budget ${rule}`, {
    fields: {
      scope,
      budget_max: toUsd(budgetMax),
      budget_spent: toUsd(budgetSpent),
      reserved: toUsd(reserved),
    },
  })
}
