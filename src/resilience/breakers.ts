import type { Millis } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import type { Model } from '../core/provider.ts'
import { Breaker, type CircuitState } from './breaker.ts'
import type { SharedCircuits } from './shared-circuits.ts'

/** Every circuit of the process, by provider and model. A reload keeps them. */
export class Breakers {
  readonly #clock: Clock
  readonly #shared: SharedCircuits | undefined
  readonly #providers = new Map<string, Map<string, Breaker>>()
  /** The names of the circuits that a configured model can have. */
  #known: ReadonlySet<string> = new Set()

  /** `shared`: the circuits that all processes have in common. */
  constructor(clock: Clock, shared?: SharedCircuits) {
    this.#clock = clock
    this.#shared = shared
    shared?.reflectIn({
      apply: (name, reading) => this.#findNamed(name)?.apply(reading),
      listOpen: () => this.#listOpen(),
    })
  }

  get({ id, provider }: Model): Breaker {
    return this.#getOrCreate(provider.name, id)
  }

  /** True while the circuit of a link admits no call. */
  isOpen(link: Model): boolean {
    return this.#find(link)?.isOpen ?? false
  }

  /** Returns the state of the circuit of a link; `closed` for one that has not been used. */
  getState(link: Model): CircuitState {
    return this.#find(link)?.state ?? 'closed'
  }

  /** Drops the circuits of all other models. */
  retain(links: Iterable<Model>): void {
    const former = new Map(this.#providers)
    const known = new Set<string>()
    this.#providers.clear()
    for (const { id, provider } of links) {
      known.add(toName(provider.name, id))
      const breaker = former.get(provider.name)?.get(id)
      if (breaker) this.#getModels(provider.name).set(id, breaker)
    }
    this.#known = known
    this.#shared?.synchronize()
  }

  /** Yields the state of every circuit that has been used. */
  *states(): Generator<{ provider: string; model: string; state: CircuitState }> {
    for (const [provider, model, { state }] of this.#list()) yield { provider, model, state }
  }

  *#listOpen(): Generator<readonly [name: string, openFor: Millis]> {
    for (const [provider, model, { openFor }] of this.#list()) {
      if (openFor !== undefined) yield [toName(provider, model), openFor]
    }
  }

  *#list(): Generator<readonly [provider: string, model: string, Breaker]> {
    for (const [provider, models] of this.#providers) {
      for (const [model, breaker] of models) yield [provider, model, breaker]
    }
  }

  #find({ id, provider }: Model): Breaker | undefined {
    return this.#providers.get(provider.name)?.get(id)
  }

  /** Finds the circuit with a name; undefined when no configured model has it. */
  #findNamed(name: string): Breaker | undefined {
    if (!this.#known.has(name)) return undefined
    // It is a name that `toName` has written.
    const [provider, model] = JSON.parse(name) as [string, string]
    return this.#getOrCreate(provider, model)
  }

  #getOrCreate(provider: string, model: string): Breaker {
    const models = this.#getModels(provider)
    let breaker = models.get(model)
    if (!breaker) {
      breaker = new Breaker(this.#clock, this.#shared?.get(toName(provider, model)))
      models.set(model, breaker)
    }
    return breaker
  }

  #getModels(provider: string): Map<string, Breaker> {
    let models = this.#providers.get(provider)
    if (!models) this.#providers.set(provider, (models = new Map()))
    return models
  }
}

/** The name of a circuit on the server. */
function toName(provider: string, model: string): string {
  return JSON.stringify([provider, model])
}
