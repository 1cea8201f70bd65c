import type { Millis } from '../core/ids.ts'

export interface RetryPolicy {
  /** Upstream calls on one link, the first included. */
  readonly maxAttempts: number
  readonly baseWait: Millis
  readonly maxWait: Millis
}

/** How a link of a chain is asked again. */
export interface LinkRetryPolicy extends RetryPolicy {
  /** The longest wait of an upstream's own that is kept; a longer one ends the retries. */
  readonly maxRetryAfter: Millis
}

/** The wait after so many failed attempts: exponential, with equal jitter (half fixed, half chance). */
export function backoff(policy: RetryPolicy, failures: number, random: () => number): Millis {
  const ceiling = Math.min(policy.maxWait, policy.baseWait * 2 ** (failures - 1))
  return ceiling / 2 + (ceiling / 2) * random()
}
