import type { Millis } from '../core/ids.ts'

export interface BreakerPolicy {
  /** The number of consecutive provider faults that opens the circuit. */
  readonly threshold: number
  readonly cooldown: Millis
}

/** A circuit as all processes have it in common. */
export interface CircuitReading {
  /** Grows with each change. */
  readonly version: number
  /** The consecutive faults. */
  readonly faults: number
  /** 0 once the circuit is half-open; undefined while it is closed. */
  readonly openFor: Millis | undefined
  /** How long the place of the probe is taken at most. */
  readonly probingFor: Millis
}

/** The one probe of a half-open circuit. */
export interface CircuitProbe {
  end(outcome: ProbeOutcome): void
}

export type ProbeOutcome =
  | { readonly kind: 'closed'; readonly faults: number }
  | { readonly kind: 'open'; readonly cooldown: Millis }
  | { readonly kind: 'abandoned' }

/** One circuit that all processes have in common. What they know of it arrives as readings. */
export interface SharedCircuit {
  readonly isUp: boolean
  fault(policy: BreakerPolicy): void
  recover(): void
  /** Takes the place of the probe. `away`: the server does not answer, so each process decides alone. */
  takeProbe(): Promise<CircuitProbe | 'refused' | 'away'>
}
