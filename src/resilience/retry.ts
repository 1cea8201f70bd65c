import type { Millis } from '../core/ids.ts'

export interface RetryPolicy {
  /** The maximum number of upstream calls on one link, the first included. */
  readonly maxAttempts: number
  readonly baseWait: Millis
  readonly maxWait: Millis
}

/** The retry policy for one link of a chain. */
export interface LinkRetryPolicy extends RetryPolicy {
  /** The longest `Retry-After` that the gateway waits for. A longer one ends the retries. */
  readonly maxRetryAfter: Millis
}

/** The wait after `failures` failed attempts: exponential, with equal jitter (half fixed, half random). */
export function backoff(policy: RetryPolicy, failures: number, random: () => number): Millis {
  const ceiling = Math.min(policy.maxWait, policy.baseWait * 2 ** (failures - 1))
  return ceiling / 2 + (ceiling / 2) * random()
}
