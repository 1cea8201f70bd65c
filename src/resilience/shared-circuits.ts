import type { Millis } from '../core/ids.ts'
import type { Clock, Timer } from '../core/ports.ts'
import type { SharedState } from '../core/shared-state.ts'
import type { CircuitProbe, CircuitReading, ProbeOutcome, SharedCircuit } from './circuit.ts'

export interface SharedCircuitsOptions {
  readonly shared: SharedState
  readonly clock: Clock
  /** The place of a probe whose process has ended becomes free after this time. */
  readonly lease: Millis
}

export interface CircuitMirror {
  apply(name: string, reading: CircuitReading): void
  /** The circuits that are not closed, and how long they stay open. */
  listOpen(): Iterable<readonly [name: string, openFor: Millis]>
}

/**
 * The circuits on the server. It is called on a fault, on the first success after one, and while a circuit
 * is not closed; each change is published. So a call to a sound provider costs nothing.
 */
export class SharedCircuits {
  readonly #options: SharedCircuitsOptions
  #mirror: CircuitMirror = { apply() {}, listOpen: () => [] }

  constructor(options: SharedCircuitsOptions) {
    this.#options = options
    options.shared.subscribe('circuits', (message) => this.#receive(message))
    options.shared.onUp(() => this.synchronize())
  }

  /** Sets what follows the circuits. */
  reflectIn(mirror: CircuitMirror): void {
    this.#mirror = mirror
  }

  /** Adds the circuits that this process has opened by itself, and reads all. */
  synchronize(): void {
    const own = Array.from(this.#mirror.listOpen(), ([name, openFor]) => [name, toText(openFor)])
    void this.#call('circuit_sync', own.flat())
  }

  get(name: string): SharedCircuit {
    const { shared } = this.#options
    return {
      get isUp() {
        return shared.isUp
      },
      fault: ({ threshold, cooldown }) => {
        void this.#call('circuit_fault', [name, toText(threshold), toText(cooldown)])
      },
      recover: () => void this.#call('circuit_recover', [name]),
      takeProbe: () => this.#takeProbe(name),
    }
  }

  async #takeProbe(name: string): Promise<CircuitProbe | 'refused' | 'away'> {
    const id = crypto.randomUUID()
    const reply = await this.#call('circuit_probe', [name, id, toText(this.#options.lease)])
    if (!reply) return 'away'
    if (reply.at(-1) !== id) return 'refused'
    const stopRenewal = this.#renew(name, id)
    return {
      end: (outcome) => {
        stopRenewal()
        void this.#call('circuit_end', [name, id, ...toArguments(outcome)])
      },
    }
  }

  /** Keeps the place of a probe until the returned function is called. */
  #renew(name: string, id: string): () => void {
    const { clock, lease } = this.#options
    let timer: Timer
    const schedule = () => {
      timer = clock.schedule(lease / 3, () => {
        void this.#call('circuit_renew', [name, id, toText(lease)])
        schedule()
      })
    }
    schedule()
    return () => timer.cancel()
  }

  /** Applies the readings of the reply. Resolves to undefined when the server is away. */
  async #call(name: string, args: readonly string[]): Promise<readonly string[] | undefined> {
    const reply = await this.#options.shared.call(name, args).catch(() => undefined)
    for (const text of reply ?? []) this.#receive(text)
    return reply
  }

  #receive(text: string): void {
    const [, version, faults, openFor, probingFor, name] = readingPattern.exec(text) ?? []
    if (name === undefined) return
    this.#mirror.apply(name, {
      version: Number(version),
      faults: Number(faults),
      openFor: openFor === '-' ? undefined : Number(openFor),
      probingFor: Number(probingFor),
    })
  }
}

/** Version, faults, open for, probing for, name. Other parts of a reply have another form. */
const readingPattern = /^(\d+) (\d+) (-|\d+) (\d+) (.+)$/s

function toText(number: number): string {
  return String(Math.ceil(number))
}

function toArguments(outcome: ProbeOutcome): readonly string[] {
  switch (outcome.kind) {
    case 'closed':
      return [outcome.kind, toText(outcome.faults)]
    case 'open':
      return [outcome.kind, toText(outcome.cooldown)]
    case 'abandoned':
      return [outcome.kind, '0']
    default:
      return outcome satisfies never
  }
}
