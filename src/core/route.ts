import type { RouteAffinity } from './affinity.ts'
import type { Capability, Modality } from './capability.ts'
import type { FallbackCause } from './fallback.ts'
import type { Millis, ModelId, UnixSeconds } from './ids.ts'
import type { ModelMatch } from './model-pattern.ts'
import type { Model, Provider } from './provider.ts'
import type { SwitchCondition } from './switch.ts'

/** How a route orders its targets for each request. */
export const strategies = ['weighted', 'fastest', 'cheapest', 'least_busy'] as const
export type RouteStrategy = (typeof strategies)[number]

/** An id that clients may ask for. */
interface RouteFacts {
  /** The id of a model, or of a route of the configuration. */
  readonly id: ModelId
  /** How a pattern came to serve the id; absent for an id of the configuration. */
  readonly match?: ModelMatch | undefined
  /** For a route of the configuration, those that all of its targets have; for a switch, those that any has. */
  readonly capabilities: readonly Capability[]
  readonly modalities: readonly Modality[]
  readonly created: UnixSeconds
  /** The provider of the model; undefined for a route of the configuration. */
  readonly provider: Provider | undefined
}

/** An id with the chain of models that serve it. */
export interface ModelRoute extends RouteFacts {
  readonly cases?: undefined
  /** The model itself, or the targets of the route; then the fallbacks in order. */
  readonly chain: readonly [Model, ...Model[]]
  /** How the targets are ordered for each request; undefined for a model. */
  readonly balance: Balance | undefined
  /** The refusals after which the chain goes on; absent where each link has its own. */
  readonly fallbackOn?: readonly FallbackCause[] | undefined
  /** A link has a context window, and another one is there to take what is too long for it. */
  readonly hasWindows?: boolean
  /** The shortest of its links: how long a client waits for the headers of its stream. Absent where none has one. */
  readonly earlyHeartbeat?: Millis | undefined
  /** Absent where a session changes nothing. */
  readonly affinity?: RouteAffinity | undefined
  /** Absent while the cache is off. */
  readonly cache?: RouteCache | undefined
}

/** An id that serves each request as another one: the target that its cases choose. */
export interface SwitchRoute extends RouteFacts {
  readonly cases: readonly SwitchCase[]
  /** The target when no case holds. */
  readonly otherwise: OfferedRoute
}

/** A case holds when all of its conditions do. */
export interface SwitchCase {
  readonly conditions: readonly SwitchCondition[]
  readonly target: OfferedRoute
}

/** Everything that clients may ask for. */
export type OfferedRoute = ModelRoute | SwitchRoute

/** What a request names, as far as its records say. */
export type NamedRoute = Pick<OfferedRoute, 'id' | 'match' | 'provider'>

/** What lists of models say of one. */
export interface ListedModel
  extends Pick<ModelRoute, 'id' | 'capabilities' | 'modalities' | 'created' | 'provider'> {
  readonly maxOutputTokens: number | undefined
}

/** How the answers of a route are cached. */
export interface RouteCache {
  /**
   * Changes with the settings of the links. Undefined where the model, or a target of the route, does
   * not allow the cache.
   */
  readonly revision: string | undefined
}

/** The targets at the head of a chain whose order is decided for each request. */
export interface Balance {
  readonly strategy: RouteStrategy
  readonly targets: readonly Target[]
  readonly fallbacks: readonly Model[]
}

export interface Target {
  readonly model: Model
  /** Its share of the requests, relative to the other targets. A target with 0 is never the first choice. */
  readonly weight: number
}

/** The models that the id names: one, or the targets of a route. */
export function listNamed({ balance, chain }: ModelRoute): readonly Model[] {
  return balance ? balance.targets.map(({ model }) => model) : chain.slice(0, 1)
}
