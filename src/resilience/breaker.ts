import type { Millis } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import type {
  BreakerPolicy,
  CircuitProbe,
  CircuitReading,
  ProbeOutcome,
  SharedCircuit,
} from './circuit.ts'

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

export type BreakerDecision = Permit | RefusedCall

interface RefusedCall {
  readonly admitted: false
  readonly retryAfter: Millis
}

/**
 * The circuit of one provider and model. It is closed until `threshold` consecutive faults, open for
 * `cooldown`, then half-open: one call probes, and other calls still find it open. It outlives reloads.
 * With shared state, it follows the circuit that all processes have in common, and goes on by itself while
 * that one is away.
 */
export class Breaker {
  readonly #clock: Clock
  readonly #shared: SharedCircuit | undefined
  #faults = 0
  #openUntil: Millis | undefined
  /** The end of the running probe; of one in another process, when its place is free at the latest. */
  #probingUntil: Millis = 0
  /** The version of the last reading. */
  #version = 0

  constructor(clock: Clock, shared?: SharedCircuit) {
    this.#clock = clock
    this.#shared = shared
  }

  get state(): CircuitState {
    if (this.#openUntil === undefined) return 'closed'
    return this.#clock.elapsed() < this.#openUntil ? 'open' : 'half-open'
  }

  /** True for a circuit that is like a new one: closed, without a fault. */
  get isUnused(): boolean {
    return this.#openUntil === undefined && this.#faults === 0
  }

  /** True while no call is admitted: the circuit is open, or half-open with its probe running. */
  get isOpen(): boolean {
    return this.#openUntil !== undefined && (this.#isProbing || this.state === 'open')
  }

  /** How long the circuit stays open; 0 once it is half-open, undefined while it is closed. */
  get openFor(): Millis | undefined {
    return this.#openUntil === undefined ? undefined : this.#remainder()
  }

  /** Decides on a call: at once, unless another process may have the probe of a half-open circuit. */
  admit(policy: BreakerPolicy): BreakerDecision | Promise<BreakerDecision> {
    switch (this.state) {
      case 'closed':
        return this.#permit(policy)
      case 'open':
        return { admitted: false, retryAfter: this.#remainder() }
      case 'half-open':
        if (this.#isProbing) return refuseBesideProbe(policy)
        return this.#shared?.isUp
          ? this.#admitProbe(policy, this.#shared)
          : this.#probeAlone(policy)
    }
  }

  /** Counts a fault: an opened stream failed, or a call that was not a probe failed. */
  fault(policy: BreakerPolicy): void {
    if (this.#openUntil !== undefined) return
    this.#faults++
    if (this.#faults >= policy.threshold) this.#open(policy)
    this.#shared?.fault(policy)
  }

  /** Counts a success: an opened stream is complete, or a call that was not a probe succeeded. */
  recover(): void {
    // A call from before the circuit opened says nothing about the provider's present state.
    if (this.#faults === 0 || this.#openUntil !== undefined) return
    this.#faults = 0
    this.#shared?.recover()
  }

  /** Takes over what all processes have in common, unless it is older than what is known. */
  apply({ version, faults, openFor, probingFor }: CircuitReading): void {
    if (version <= this.#version) return
    const now = this.#clock.elapsed()
    this.#version = version
    this.#faults = faults
    this.#openUntil = openFor === undefined ? undefined : now + openFor
    this.#probingUntil = now + probingFor
  }

  get #isProbing(): boolean {
    return this.#clock.elapsed() < this.#probingUntil
  }

  async #admitProbe(policy: BreakerPolicy, shared: SharedCircuit): Promise<BreakerDecision> {
    const probe = await shared.takeProbe()
    if (probe === 'away')
      return this.#isProbing ? refuseBesideProbe(policy) : this.#probeAlone(policy)
    if (probe !== 'refused') return this.#permit(policy, probe)
    // The reply has brought the state that other processes made.
    if (this.state === 'closed') return this.#permit(policy)
    return this.#isProbing
      ? refuseBesideProbe(policy)
      : { admitted: false, retryAfter: this.#remainder() }
  }

  #probeAlone(policy: BreakerPolicy): Permit {
    this.#probingUntil = Number.POSITIVE_INFINITY
    return this.#permit(policy, ownProbe)
  }

  #permit(policy: BreakerPolicy, probe?: CircuitProbe): Permit {
    const over = (outcome: ProbeOutcome) => {
      this.#probingUntil = 0
      probe?.end(outcome)
    }
    const close = (faults: number) => {
      this.#faults = faults
      this.#openUntil = undefined
      over({ kind: 'closed', faults })
    }
    return {
      admitted: true,
      isProbe: probe !== undefined,
      success: () => {
        if (probe) close(0)
        else this.recover()
      },
      opened: () => {
        if (probe) close(policy.threshold - 1)
      },
      failure: () => {
        if (!probe) return this.fault(policy)
        this.#open(policy)
        over({ kind: 'open', cooldown: policy.cooldown })
      },
      abandon: () => {
        if (probe) over({ kind: 'abandoned' })
      },
    }
  }

  #open(policy: BreakerPolicy): void {
    this.#openUntil = this.#clock.elapsed() + policy.cooldown
  }

  #remainder(): Millis {
    return Math.max(0, (this.#openUntil ?? 0) - this.#clock.elapsed())
  }
}

/** The probe may take any time, and its failure would start another full cooldown. */
function refuseBesideProbe({ cooldown }: BreakerPolicy): RefusedCall {
  return { admitted: false, retryAfter: cooldown }
}

/** The probe of a process that decides alone. */
const ownProbe: CircuitProbe = { end() {} }
