import { type ModelConfig } from '../config/index.ts'
import type { ModelId } from '../core/ids.ts'
import type { ListedFacts, ListedModels } from '../core/model-list.ts'
import { extractRest, fillPattern, type ModelMatch, PatternIndex } from '../core/model-pattern.ts'
import type { Model } from '../core/provider.ts'
import type { ListedModel, ModelRoute } from '../core/route.ts'
import { RecentMap } from '../wire/recent-map.ts'

/** A model of the configuration whose id is a pattern. */
export interface Pattern {
  /** The pattern itself, with the settings of all models that it serves. */
  readonly model: Model
  readonly entry: ModelConfig
  /** Binds a model that it serves, as if the configuration had this entry. */
  bind(entry: ModelConfig, match: ModelMatch | undefined): Model
}

export interface PatternsOptions {
  readonly patterns: readonly Pattern[]
  /** True for the id of a model or a route of the configuration, which comes before all patterns. */
  readonly isTaken: (id: string) => boolean
  /** Makes the route of a model that a pattern serves. */
  readonly toRoute: (model: Model, pattern: Pattern) => ModelRoute
}

interface HeldRoute {
  readonly route: ModelRoute
  readonly pattern: Pattern
  /** The list of the vendor for which it was made. */
  readonly list: ListedModels | undefined
}

/** The part of a pattern's models that the vendor lists, for one list. */
interface HeldList {
  readonly list: ListedModels
  readonly models: readonly ListedModel[]
}

/** Clients may invent ids, so routes are made anew for those that were not used for longest. */
const maxRoutes = 1000

/** The patterns of a snapshot, and the models that they serve. */
export class Patterns {
  readonly #options: PatternsOptions
  readonly #index: PatternIndex<Pattern>
  readonly #routes = new RecentMap<string, HeldRoute>({ max: maxRoutes })
  readonly #named = new Map<string, Model>()
  readonly #lists = new Map<Pattern, HeldList>()

  constructor(options: PatternsOptions) {
    this.#options = options
    this.#index = new PatternIndex(
      options.patterns.map((pattern) => [pattern.entry.id, pattern] as const),
    )
  }

  /** The models that fallbacks and targets name. */
  get named(): Iterable<Model> {
    return this.#named.values()
  }

  /** Finds the route of an id; undefined when no pattern serves it, or the vendor does not list its model. */
  find(id: string): ModelRoute | undefined {
    const held = this.#routes.get(id)
    if (held && held.list === getList(held.pattern)) return held.route
    const served = this.#findServed(id)
    if (!served || served.isMissing) return undefined
    const { pattern } = served
    const route = this.#options.toRoute(this.#named.get(id) ?? this.#bind(id, served), pattern)
    this.#routes.set(id, { route, pattern, list: getList(pattern) })
    return route
  }

  /** Returns the model of an id that a fallback or a target names, whatever the vendor lists. */
  name(id: string): Model | undefined {
    const served = this.#named.has(id) ? undefined : this.#findServed(id)
    if (served) this.#named.set(id, bindEntry(id, served, undefined))
    return this.#named.get(id)
  }

  /** Returns the route of an id that a switch names, whatever the vendor lists. */
  nameRoute(id: string): ModelRoute | undefined {
    const model = this.name(id)
    const served = model && this.#findServed(id)
    return served && this.#options.toRoute(model, served.pattern)
  }

  /** Finds the model of an id, whatever the vendor lists. */
  findModel(id: string): Model | undefined {
    const served = this.#findServed(id)
    return served && (this.#named.get(id) ?? this.#bind(id, served))
  }

  /** Finds out how an id is served at a provider; undefined when no pattern of it does, or the file names the id. */
  findMatch(provider: string, id: string): ModelMatch | undefined {
    if (this.#options.isTaken(id) || this.#named.has(id)) return undefined
    const served = this.#findServed(id)
    return served?.pattern.model.provider.name === provider ? toMatch(served) : undefined
  }

  /** Finds a model that its vendor lists. */
  findListed(id: string): ListedModel | undefined {
    const served = this.#findServed(id)
    return served?.facts && !served.isMissing
      ? toListed(id, served.facts, served.pattern)
      : undefined
  }

  /** The models that vendors list and patterns serve, in the order of the patterns, then of the vendor. */
  list(): readonly ListedModel[] {
    return this.#options.patterns.flatMap((pattern) => this.#listOf(pattern))
  }

  #listOf(pattern: Pattern): readonly ListedModel[] {
    const list = getList(pattern)
    if (!list) return []
    const held = this.#lists.get(pattern)
    if (held?.list === list) return held.models
    const models = Array.from(list.models, ([name, facts]) =>
      this.#toListed(pattern, name, facts),
    ).filter((model) => model !== undefined)
    this.#lists.set(pattern, { list, models })
    return models
  }

  #toListed(pattern: Pattern, name: string, facts: ListedFacts): ListedModel | undefined {
    const { model } = pattern
    const rest = extractRest(model.upstreamId, name)
    if (rest === undefined) return undefined
    const id = fillPattern(model.id, rest)
    const isOwn = !this.#options.isTaken(id) && this.#index.find(id)?.entry === pattern
    return isOwn && serves(pattern, facts) ? toListed(id, facts, pattern) : undefined
  }

  #findServed(id: string): ServedId | undefined {
    const found = this.#index.find(id)
    if (!found) return undefined
    const { entry: pattern, rest } = found
    const upstreamId = fillPattern(pattern.model.upstreamId, rest)
    const list = getList(pattern)
    const facts = list?.find(upstreamId)
    const isMissing = list !== undefined && !(facts && serves(pattern, facts))
    return { pattern, upstreamId, facts, isMissing }
  }

  #bind(id: string, served: ServedId): Model {
    return bindEntry(id, served, toMatch(served))
  }
}

interface ServedId {
  readonly pattern: Pattern
  readonly upstreamId: string
  readonly facts: ListedFacts | undefined
  /** The vendor has sent a list without the model. */
  readonly isMissing: boolean
}

function getList({ model }: Pattern): ListedModels | undefined {
  return model.provider.list?.current
}

function toMatch({ pattern, facts, isMissing }: ServedId): ModelMatch {
  return { pattern: pattern.model.id, isListed: facts !== undefined && !isMissing }
}

function bindEntry(
  id: string,
  { pattern, upstreamId }: ServedId,
  match: ModelMatch | undefined,
): Model {
  const { fillPrices, ...settings } = pattern.entry
  const entry: ModelConfig = { ...settings, id, upstream_id: upstreamId }
  return pattern.bind(fillPrices?.(entry) ?? entry, match)
}

/** False for a model that serves, as its vendor says, none of what the pattern is for. */
function serves({ model }: Pattern, { capabilities }: ListedFacts): boolean {
  return capabilities === undefined || capabilities.some((one) => model.capabilities.includes(one))
}

function toListed(id: string, { since }: ListedFacts, { model }: Pattern): ListedModel {
  const { capabilities, modalities, provider, maxOutputTokens } = model
  // The schema allows every id that a pattern matches.
  return { id: id as ModelId, created: since, capabilities, modalities, provider, maxOutputTokens }
}
