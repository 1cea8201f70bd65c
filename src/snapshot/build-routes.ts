import type { Config, RouteConfig } from '../config/index.ts'
import type { Millis, ModelId, UnixSeconds } from '../core/ids.ts'
import { isPattern } from '../core/model-pattern.ts'
import type { Model } from '../core/provider.ts'
import type { ModelRoute, OfferedRoute, RouteStrategy, Target } from '../core/route.ts'
import { addSwitches } from './add-switches.ts'
import { resolveAffinity } from './affinity.ts'
import type { CacheRevisions } from './cache-revisions.ts'
import { type Pattern, Patterns } from './patterns.ts'
import type { UnchangedParts } from './reuse.ts'

interface RouteParts {
  /** Of the file, in its order. */
  readonly models: readonly Model[]
  readonly patterns: readonly Pattern[]
  readonly now: UnixSeconds
  readonly unchanged: Pick<UnchangedParts, 'route'>
  /** By the id of a model or a route. */
  readonly cacheRevisions: CacheRevisions
}

/**
 * Builds the chain of each model, then of each route; those of what patterns serve are built when they are asked
 * for. The fallbacks of a fallback are not followed.
 */
export function buildRoutes(
  config: Pick<Config, 'providers' | 'routes' | 'cache'>,
  parts: RouteParts,
): { readonly routes: Map<string, OfferedRoute>; readonly patterns: Patterns } {
  const { cacheRevisions } = parts
  const models = new Map<string, Model>(parts.models.map((model) => [model.id, model]))
  const routes = new Map<string, OfferedRoute>()
  const complete = (route: ModelRoute): ModelRoute => ({
    ...route,
    cache: config.cache.enabled ? { revision: cacheRevisions.get(route.id) } : undefined,
  })
  const patterns = new Patterns({
    patterns: parts.patterns,
    isTaken: (id) => routes.has(id),
    toRoute: (model, { entry }) => complete(routeOfModel(model, findAll(entry.fallbacks))),
  })
  const find = (id: string) => models.get(id) ?? patterns.name(id)
  const findAll = (ids: readonly string[]) => ids.flatMap((id) => find(id) ?? [])
  for (const entry of config.providers.flatMap((provider) => provider.models)) {
    const model = models.get(entry.id)
    const fallbacks = findAll(entry.fallbacks)
    if (!model || isPattern(entry.id)) continue
    routes.set(entry.id, complete(routeOfModel(model, fallbacks)))
  }
  for (const entry of config.routes) {
    const { strategy } = entry
    if (strategy === 'switch') continue
    const route = buildRoute(entry, { ...parts, strategy, find })
    if (route) routes.set(entry.id, complete(route))
  }
  addSwitches(config.routes, { ...parts, routes, findOther: (id) => patterns.nameRoute(id) })
  return { routes, patterns }
}

function routeOfModel(model: Model, fallbacks: readonly Model[]): ModelRoute {
  const { id, match, capabilities, modalities, created, provider } = model
  // A pattern may serve its own fallback.
  const chain = [model, ...fallbacks.filter((other) => other.id !== id)] as const
  const affinity = resolveAffinity({ capabilities, chain })
  return {
    id,
    match,
    capabilities,
    modalities,
    created,
    provider,
    chain,
    hasWindows: hasWindows(chain),
    earlyHeartbeat: findEarly(chain),
    affinity,
    balance: undefined,
  }
}

interface FoundParts extends Pick<RouteParts, 'now' | 'unchanged'> {
  readonly strategy: RouteStrategy
  readonly find: (id: string) => Model | undefined
}

function buildRoute(
  entry: RouteConfig,
  { strategy, find, now, unchanged }: FoundParts,
): ModelRoute | undefined {
  const targets = entry.targets.flatMap(({ model: id, weight }): Target[] => {
    const model = find(id)
    return model ? [{ model, weight }] : []
  })
  const fallbacks = entry.fallbacks.flatMap((id) => find(id) ?? [])
  const [first, ...others] = targets.map(({ model }) => model)
  // The configuration is valid, so every route has targets.
  if (!first) return undefined
  const capabilities = first.capabilities.filter((each) =>
    others.every((other) => other.capabilities.includes(each)),
  )
  const chain = [first, ...others, ...fallbacks] as const
  return {
    id: entry.id as ModelId,
    capabilities,
    modalities: first.modalities.filter((each) =>
      others.every(({ modalities }) => modalities.includes(each)),
    ),
    created: unchanged.route(entry)?.created ?? now,
    provider: undefined,
    chain,
    fallbackOn: entry.fallback_on,
    hasWindows: hasWindows(chain),
    earlyHeartbeat: findEarly(chain),
    affinity: resolveAffinity({ capabilities, chain, entry }),
    balance: { strategy, targets, fallbacks },
  }
}

function hasWindows(chain: ModelRoute['chain']): boolean {
  return chain.length > 1 && chain.some(({ contextWindow }) => contextWindow !== undefined)
}

function findEarly(chain: ModelRoute['chain']): Millis | undefined {
  const times = chain.flatMap(({ earlyHeartbeat }) => earlyHeartbeat ?? [])
  return times.length === 0 ? undefined : Math.min(...times)
}
