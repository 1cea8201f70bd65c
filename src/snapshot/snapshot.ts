import type { CacheSettings } from '../cache/index.ts'
import type { Principal } from '../core/admission.ts'
import type { Capability } from '../core/capability.ts'
import type { CloudSource } from '../core/cloud-credential.ts'
import { GatewayError } from '../core/errors.ts'
import type { Bytes, Millis } from '../core/ids.ts'
import type { ModelMatch } from '../core/model-pattern.ts'
import { nearestName } from '../core/nearest-name.ts'
import type { UnpricedPolicy } from '../core/prices.ts'
import type { Model, Provider } from '../core/provider.ts'
import type { ListedModel, OfferedRoute } from '../core/route.ts'
import type { BreakerPolicy, LinkRetryPolicy } from '../resilience/index.ts'
import type { Patterns } from './patterns.ts'

type Caller = Pick<Principal, 'mayUse'>

/**
 * An immutable view of a valid configuration. A request keeps the snapshot with which it began, also
 * across a reload.
 */
export interface Snapshot extends Omit<SnapshotParts, 'routes' | 'models' | 'patterns'> {
  /** The credentials of clouds that its providers use. */
  readonly clouds: readonly CloudSource[]
  /** Every model of the file, in its order; the patterns, too. */
  models(): readonly Model[]
  /** Every model that the file names: the models, and what patterns serve of its fallbacks and targets. */
  links(): readonly Model[]
  /** Finds the model with an id, of the file or of a pattern, whatever the vendor lists. */
  findModel(id: string): Model | undefined
  /** Finds out how a pattern of a provider serves an id; undefined for ids that the file names. */
  findMatch(provider: string, id: string): ModelMatch | undefined
  /** What lists of models have: the models and routes of the file, then what vendors list and patterns serve. */
  listed(): readonly ListedModel[]
  /** The entry of a list with this id; throws LM-2001, which suggests only what `caller` may use. */
  describe(id: string, caller: Caller): ListedModel
  /** The models of the file without the patterns, then its routes, in their orders. */
  routes(): readonly OfferedRoute[]
  /** The route of a model, of a route of the file or of what a pattern serves; throws LM-2001, which suggests only what `caller` may use. */
  route(id: string, caller?: Caller): OfferedRoute
  /** The same; throws LM-2001 for an unknown id, LM-2002 without the capability. */
  resolve(id: string, capability: Capability, caller: Caller): OfferedRoute
}

export function createSnapshot({ routes, models, patterns, ...parts }: SnapshotParts): Snapshot {
  const notFound = (id: string, caller: Caller | undefined): GatewayError => {
    const ids = [
      ...routes.keys(),
      ...patterns
        .list()
        .slice(0, maxHints)
        .map((one) => one.id),
    ]
    return modelNotFound(
      id,
      ids.filter((one) => caller?.mayUse(one) ?? true),
    )
  }
  const known = (id: string, caller?: Caller): OfferedRoute => {
    const route = routes.get(id) ?? patterns.find(id)
    if (route) return route
    throw notFound(id, caller)
  }
  const own = new Map(Array.from(routes, ([id, route]) => [id, toListed(route)]))
  return Object.freeze({
    ...parts,
    clouds: parts.providers.flatMap(({ cloud }) => cloud ?? []),
    models: () => models,
    links: () => [...models, ...patterns.named],
    findModel: (id: string) => models.find((model) => model.id === id) ?? patterns.findModel(id),
    findMatch: (provider: string, id: string) => patterns.findMatch(provider, id),
    listed: () => [...own.values(), ...patterns.list()],
    describe(id: string, caller: Caller) {
      const listed = own.get(id) ?? patterns.findListed(id)
      if (listed) return listed
      throw notFound(id, caller)
    },
    routes: () => [...routes.values()],
    route: known,
    resolve(id: string, capability: Capability, caller: Caller) {
      const route = known(id, caller)
      if (route.capabilities.includes(capability)) return route
      const message = `model ${id} does not have the capability ${capability}`
      throw new GatewayError('LM-2002', message, { param: 'model' })
    },
  })
}

/** The output limit of a switch is that of the target that it chooses. */
function toListed(route: OfferedRoute): ListedModel {
  const { id, capabilities, modalities, created, provider } = route
  const maxOutputTokens = route.cases ? undefined : route.chain[0].maxOutputTokens
  return { id, capabilities, modalities, created, provider, maxOutputTokens }
}

/** The models of vendors among which a near name is looked for. */
const maxHints = 1000

/** The longest id that the schema allows; a longer one has no near name. */
const maxIdLength = 256

/** The message does not repeat the id, which may be any text. */
function modelNotFound(id: string, known: Iterable<string>): GatewayError {
  const nearest = id.length > maxIdLength ? undefined : findNearest(id, [...known])
  const hint = nearest === undefined ? '' : `did you mean ${nearest}? `
  const message = `the model is not configured; ${hint}GET /v1/models lists the models`
  return new GatewayError('LM-2001', message, { param: 'model' })
}

/** Other gateways and libraries write the provider before a model: `openai/gpt-5`, `openai:gpt-5`. */
function findNearest(id: string, known: readonly string[]): string | undefined {
  const name = dropProvider(id)
  return (
    known.find((other) => other === name) ??
    known.find((other) => dropProvider(other) === name) ??
    nearestName(id, known) ??
    (name === id ? undefined : nearestName(name, known))
  )
}

function dropProvider(id: string): string {
  return id.replace(/^.*[/:](?=.)/s, '')
}

/** The resolved settings of a configuration. */
export interface SnapshotParts {
  readonly providers: readonly Provider[]
  /** The warnings of kinds about their settings, without duplicates. */
  readonly warnings: readonly string[]
  /** In the order of the file; the patterns, too. */
  readonly models: readonly Model[]
  /** The models and routes of the file, without the patterns, by their ids. */
  readonly routes: ReadonlyMap<string, OfferedRoute>
  readonly patterns: Patterns
  /** Maximum size of a request body. */
  readonly bodyLimit: Bytes
  /** Maximum size of an answer that is not streamed, except that of embeddings. */
  readonly answerLimit: Bytes
  /** For a request whose model is not known yet: providers may have their own. */
  readonly totalTimeout: Millis
  readonly heartbeat: Millis
  readonly retry: LinkRetryPolicy
  readonly breaker: BreakerPolicy
  readonly healthCheck: HealthCheckPolicy
  readonly imageFetch: ImageFetchPolicy
  readonly tokenizer: TokenizerMode
  readonly cache: CacheSettings
  /** Output tokens that a reservation assumes where the request and the model set no bound. */
  readonly reserveOutputTokens: number
  /** What happens to requests whose cost is not known. */
  readonly unpriced: UnpricedPolicy
}

/** How tokens are counted when the upstream reports no usage. */
export type TokenizerMode = 'heuristic' | 'accurate'

/** The remote images that the gateway may fetch for embeddings. */
export interface ImageFetchPolicy {
  readonly enabled: boolean
  /** Maximum size of one image. */
  readonly maxBytes: Bytes
  /** For one image, redirects included. */
  readonly timeout: Millis
  /** Maximum number of images in one request. */
  readonly maxImages: number
  readonly schemes: readonly string[]
  /** Allowed hosts in lower case; a leading dot matches every subdomain. Empty: any host. */
  readonly hosts: readonly string[]
  /** Allowed beginnings of a URL. Empty: any URL. */
  readonly prefixes: readonly string[]
}

export interface HealthCheckPolicy {
  readonly enabled: boolean
  readonly interval: Millis
}
