import type { Millis } from '../core/ids.ts'
import type { ModelMatch } from '../core/model-pattern.ts'
import type { Clock } from '../core/ports.ts'
import type { Model } from '../core/provider.ts'
import { RecentMap } from '../wire/recent-map.ts'
import { Breaker, type CircuitState } from './breaker.ts'
import type { SharedCircuits } from './shared-circuits.ts'

/** How a pattern of a provider serves an id; undefined for one that no pattern serves. */
export type FindMatch = (provider: string, id: string) => ModelMatch | undefined

/**
 * Every circuit of the process, by provider and model. A reload keeps them. Clients may invent ids that patterns
 * serve, so of these the ones that were not used for longest are dropped.
 */
export class Breakers {
  readonly #clock: Clock
  readonly #shared: SharedCircuits | undefined
  readonly #providers = new Map<string, Map<string, Breaker>>()
  /** The circuits of models that patterns serve, by their names. */
  readonly #matched = new RecentMap<string, MatchedBreaker>({
    max: maxMatched,
    isIdle: ({ breaker }) => breaker.isUnused,
  })
  /** The names of the circuits that a configured model can have. */
  #known: ReadonlySet<string> = new Set()
  #findMatch: FindMatch = () => undefined

  /** `shared`: the circuits that all processes have in common. */
  constructor(clock: Clock, shared?: SharedCircuits) {
    this.#clock = clock
    this.#shared = shared
    shared?.reflectIn({
      apply: (name, reading) => this.#findNamed(name)?.apply(reading),
      listOpen: () => this.#listOpen(),
    })
  }

  get({ id, provider, match }: Model): Breaker {
    if (match) return this.#getMatched(provider.name, id, match)
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

  /** Drops the circuits of all other models, and of what no pattern serves any longer. */
  retain(links: Iterable<Model>, findMatch: FindMatch = () => undefined): void {
    const former = new Map(this.#providers)
    const known = new Set<string>()
    this.#providers.clear()
    for (const { id, provider } of links) {
      known.add(toName(provider.name, id))
      const breaker = former.get(provider.name)?.get(id)
      if (breaker) this.#getModels(provider.name).set(id, breaker)
    }
    for (const [name, { provider, model }] of this.#matched) {
      if (!findMatch(provider, model)) this.#matched.delete(name)
    }
    this.#known = known
    this.#findMatch = findMatch
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
    for (const [, { provider, model, breaker }] of this.#matched) yield [provider, model, breaker]
  }

  #find({ id, provider, match }: Model): Breaker | undefined {
    if (match) return this.#matched.get(toName(provider.name, id))?.breaker
    return this.#providers.get(provider.name)?.get(id)
  }

  /** Finds the circuit with a name; undefined when no known model has it. */
  #findNamed(name: string): Breaker | undefined {
    // It is a name that `toName` has written.
    const [provider, model] = JSON.parse(name) as [string, string]
    if (this.#known.has(name)) return this.#getOrCreate(provider, model)
    const match = this.#findMatch(provider, model)
    return match?.isListed ? this.#getMatched(provider, model, match) : undefined
  }

  /** Processes share the circuits of models that the vendor lists; others may be invented, and stay here. */
  #getMatched(provider: string, model: string, { isListed }: ModelMatch): Breaker {
    const name = toName(provider, model)
    const known = this.#matched.get(name)
    if (known) return known.breaker
    const breaker = new Breaker(this.#clock, isListed ? this.#shared?.get(name) : undefined)
    this.#matched.set(name, { provider, model, breaker })
    return breaker
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

interface MatchedBreaker {
  readonly provider: string
  readonly model: string
  readonly breaker: Breaker
}

/** How many circuits of models that patterns serve are kept. */
const maxMatched = 1000

/** The name of a circuit on the server. */
function toName(provider: string, model: string): string {
  return JSON.stringify([provider, model])
}
