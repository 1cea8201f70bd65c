import type { Millis } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'

export interface BreakerPolicy {
  /** Consecutive faults of the provider that open the circuit. */
  readonly threshold: number
  readonly cooldown: Millis
}

export type CircuitState = 'closed' | 'open' | 'half-open'

/** Leave for one upstream call. Exactly one of its functions is called, once, when it is over. */
export interface Permit {
  readonly admitted: true
  /** The call is the one probe of a half-open circuit, and is not to be repeated. */
  readonly isProbe: boolean
  success(): void
  /**
   * A stream has shown its first content, which is no success yet: its end will tell. A probe that
   * comes so far closes its circuit, but on probation: the next fault opens it again.
   */
  opened(): void
  failure(): void
  /** No verdict: the client left, or the request itself was at fault. */
  abandon(): void
}

export type BreakerDecision = Permit | { readonly admitted: false; readonly retryAfter: Millis }

/**
 * The circuit of one provider and model. Closed until `threshold` faults in a row; open for
 * `cooldown`; then half-open: one call probes, all others still find it open. It outlives reloads.
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

  admit(policy: BreakerPolicy): BreakerDecision {
    switch (this.state) {
      case 'closed':
        return this.#permit(policy, false)
      case 'open':
        return { admitted: false, retryAfter: this.#remainder() }
      case 'half-open':
        // How long the probe will take is unknown; its failure would cost a full cooldown.
        if (this.#probing) return { admitted: false, retryAfter: policy.cooldown }
        this.#probing = true
        return this.#permit(policy, true)
    }
  }

  /** An opened stream has died, or a call outside of a probe has failed. */
  fault(policy: BreakerPolicy): void {
    this.#faults++
    if (this.#openUntil === undefined && this.#faults >= policy.threshold) this.#open(policy)
  }

  /** An opened stream is complete, or a call outside of a probe has succeeded. */
  recover(): void {
    // A straggler from before the circuit opened proves nothing about now.
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
