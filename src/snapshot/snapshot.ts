import type { Capability } from '../core/capability.ts'
import { GatewayError } from '../core/errors.ts'
import type { Millis } from '../core/ids.ts'
import { nearestName } from '../core/nearest-name.ts'
import type { Model, ModelRoute, Provider } from '../core/provider.ts'
import type { BreakerPolicy, LinkRetryPolicy } from '../resilience/index.ts'

/**
 * One view of a valid configuration. A request keeps the snapshot that it began with, whatever is
 * reloaded meanwhile.
 */
export interface Snapshot extends Omit<SnapshotParts, 'routes'> {
  /** Every model in the order of the file. */
  models(): readonly Model[]
  /** The model of that id, or LM-2001. */
  model(id: string): Model
  /** The chain that serves a model: LM-2001 for an unknown id, LM-2002 without the capability. */
  resolve(id: string, capability: Capability): ModelRoute
}

export function createSnapshot({ routes, ...parts }: SnapshotParts): Snapshot {
  const known = (id: string): ModelRoute => {
    const route = routes.get(id)
    if (route) return route
    throw modelNotFound(id, routes.keys())
  }
  return Object.freeze({
    ...parts,
    models: () => [...routes.values()].map(({ model }) => model),
    model: (id: string) => known(id).model,
    resolve(id: string, capability: Capability) {
      const route = known(id)
      if (route.model.capabilities.includes(capability)) return route
      const message = `model ${id} does not have the capability ${capability}`
      throw new GatewayError('LM-2002', message, { param: 'model' })
    },
  })
}

/** No id is longer than this: to look for a neighbour of longer ones would only cost time. */
const maxIdLength = 256

/** What a client sends as an id may be anything, so it is not repeated. */
function modelNotFound(id: string, known: Iterable<string>): GatewayError {
  const nearest = id.length > maxIdLength ? undefined : nearestName(id, known)
  const hint = nearest === undefined ? '' : `did you mean ${nearest}? `
  const message = `the model is not configured; ${hint}GET /v1/models lists those that are`
  return new GatewayError('LM-2001', message, { param: 'model' })
}

/** What a configuration settles, everything in it resolved. */
export interface SnapshotParts {
  readonly providers: readonly Provider[]
  /** What the kinds have to say about their settings; none twice. */
  readonly warnings: readonly string[]
  readonly routes: ReadonlyMap<string, ModelRoute>
  readonly bodyLimit: number
  /** Of a request that has not been routed yet: providers may have their own. */
  readonly totalTimeout: Millis
  readonly heartbeat: Millis
  readonly retry: LinkRetryPolicy
  readonly breaker: BreakerPolicy
  readonly healthCheck: HealthCheckPolicy
  readonly imageFetch: ImageFetchPolicy
  readonly tokenizer: TokenizerMode
}

/** How tokens are counted that no upstream has. */
export type TokenizerMode = 'heuristic' | 'accurate'

/** Which remote images the gateway fetches for embeddings, and how much of them. */
export interface ImageFetchPolicy {
  readonly enabled: boolean
  readonly maxBytes: number
  /** For one image, redirects included. */
  readonly timeout: Millis
  /** In one request. */
  readonly maxImages: number
  readonly schemes: readonly string[]
  /** Lower case; a leading dot stands for every subdomain. Empty: any host. */
  readonly hosts: readonly string[]
  /** Empty: any address. */
  readonly prefixes: readonly string[]
}

export interface HealthCheckPolicy {
  readonly enabled: boolean
  readonly interval: Millis
}
