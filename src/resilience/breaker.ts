import type { Millis } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'

export interface BreakerPolicy {
  /** The number of consecutive provider faults that opens the circuit. */
  readonly threshold: number
  readonly cooldown: Millis
}

export type CircuitState = 'closed' | 'open' | 'half-open'

/** The permission for one upstream call. Exactly one of its functions is called, once, at the end. */
export interface Permit {
  readonly admitted: true
  /** True for the one probe of a half-open circuit, which must not be retried. */
  readonly isProbe: boolean
  success(): void
  /**
   * A stream has sent its first content. Its end decides whether it succeeded. A probe closes the
   * circuit here, on probation: the next fault opens it again.
   */
  opened(): void
  failure(): void
  /** The call says nothing about the provider: the client left, or the request was at fault. */
  abandon(): void
}

export type BreakerDecision = Permit | { readonly admitted: false; readonly retryAfter: Millis }

/**
 * The circuit of one provider and model. It is closed until `threshold` consecutive faults, open for
 * `cooldown`, then half-open: one call probes, and other calls still find it open. It outlives reloads.
 */
export class Breaker {
  readonly #clock: Clock
  #faults = 0
  #openUntil: Millis | undefined
  #probing = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get state(): CircuitState {
    if (this.#openUntil === undefined) return 'closed'
    return this.#clock.elapsed() < this.#openUntil ? 'open' : 'half-open'
  }

  /** True while no call is admitted: the circuit is open, or half-open with its probe running. */
  get isOpen(): boolean {
    return this.#openUntil !== undefined && (this.#probing || this.state === 'open')
  }

  admit(policy: BreakerPolicy): BreakerDecision {
    switch (this.state) {
      case 'closed':
        return this.#permit(policy, false)
      case 'open':
        return { admitted: false, retryAfter: this.#remainder() }
      case 'half-open':
        // The probe may take any time, and its failure would start another full cooldown.
        if (this.#probing) return { admitted: false, retryAfter: policy.cooldown }
        this.#probing = true
        return this.#permit(policy, true)
    }
  }

  /** Counts a fault: an opened stream failed, or a call that was not a probe failed. */
  fault(policy: BreakerPolicy): void {
    this.#faults++
    if (this.#openUntil === undefined && this.#faults >= policy.threshold) this.#open(policy)
  }

  /** Counts a success: an opened stream is complete, or a call that was not a probe succeeded. */
  recover(): void {
    // A call from before the circuit opened says nothing about the provider's present state.
    if (this.#openUntil === undefined) this.#faults = 0
  }

  #permit(policy: BreakerPolicy, probe: boolean): Permit {
    const over = () => {
      if (probe) this.#probing = false
    }
    return {
      admitted: true,
      isProbe: probe,
      success: () => {
        over()
        if (probe) this.#close(0)
        else this.recover()
      },
      opened: () => {
        over()
        if (probe) this.#close(policy.threshold - 1)
      },
      failure: () => {
        over()
        if (probe) this.#open(policy)
        else this.fault(policy)
      },
      abandon: over,
    }
  }

  #open(policy: BreakerPolicy): void {
    this.#openUntil = this.#clock.elapsed() + policy.cooldown
  }

  #close(faults: number): void {
    this.#faults = faults
    this.#openUntil = undefined
  }

  #remainder(): Millis {
    return Math.max(0, (this.#openUntil ?? 0) - this.#clock.elapsed())
  }
}
