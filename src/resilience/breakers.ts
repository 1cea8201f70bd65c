import type { Clock } from '../core/ports.ts'
import type { Model } from '../core/provider.ts'
import { Breaker, type CircuitState } from './breaker.ts'

/** Every circuit of the process, by provider and model. A reload keeps them. */
export class Breakers {
  readonly #clock: Clock
  readonly #providers = new Map<string, Map<string, Breaker>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get({ id, provider }: Model): Breaker {
    const models = this.#getModels(provider.name)
    let breaker = models.get(id)
    if (!breaker) models.set(id, (breaker = new Breaker(this.#clock)))
    return breaker
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
    this.#providers.clear()
    for (const { id, provider } of links) {
      const breaker = former.get(provider.name)?.get(id)
      if (breaker) this.#getModels(provider.name).set(id, breaker)
    }
  }

  /** Yields the state of every circuit that has been used. */
  *states(): Generator<{ provider: string; model: string; state: CircuitState }> {
    for (const [provider, models] of this.#providers) {
      for (const [model, { state }] of models) yield { provider, model, state }
    }
  }

  #find({ id, provider }: Model): Breaker | undefined {
    return this.#providers.get(provider.name)?.get(id)
  }

  #getModels(provider: string): Map<string, Breaker> {
    let models = this.#providers.get(provider)
    if (!models) this.#providers.set(provider, (models = new Map()))
    return models
  }
}
