import type { Config, RouteConfig } from '../config/index.ts'
import type { ModelId, UnixSeconds } from '../core/ids.ts'
import type { Model } from '../core/provider.ts'
import type { ModelRoute, Target } from '../core/route.ts'
import { resolveAffinity } from './affinity.ts'
import type { UnchangedParts } from './reuse.ts'

interface RouteParts {
  readonly models: ReadonlyMap<string, Model>
  readonly now: UnixSeconds
  readonly unchanged: Pick<UnchangedParts, 'route'>
  /** By the id of a model or a route. */
  readonly cacheRevisions: ReadonlyMap<string, string>
}

/** Builds the chain of each model, then of each route. The fallbacks of a fallback are not followed. */
export function buildRoutes(
  config: Pick<Config, 'providers' | 'routes' | 'cache'>,
  parts: RouteParts,
): Map<string, ModelRoute> {
  const { models, cacheRevisions } = parts
  const routes = new Map<string, ModelRoute>()
  const add = (id: string, route: ModelRoute | undefined) => {
    const cache = config.cache.enabled ? { revision: cacheRevisions.get(id) } : undefined
    if (route) routes.set(id, { ...route, cache })
  }
  for (const entry of config.providers.flatMap((provider) => provider.models)) {
    const model = models.get(entry.id)
    add(entry.id, model && routeOfModel(model, findAll(models, entry.fallbacks)))
  }
  for (const entry of config.routes) add(entry.id, buildRoute(entry, parts))
  return routes
}

function routeOfModel(model: Model, fallbacks: readonly Model[]): ModelRoute {
  const { id, capabilities, modalities, created, provider } = model
  const chain = [model, ...fallbacks] as const
  const affinity = resolveAffinity({ capabilities, chain })
  return {
    id,
    capabilities,
    modalities,
    created,
    provider,
    chain,
    hasWindows: hasWindows(chain),
    affinity,
    balance: undefined,
  }
}

function buildRoute(
  entry: RouteConfig,
  { models, now, unchanged }: RouteParts,
): ModelRoute | undefined {
  const targets = entry.targets.flatMap(({ model: id, weight }): Target[] => {
    const model = models.get(id)
    return model ? [{ model, weight }] : []
  })
  const fallbacks = findAll(models, entry.fallbacks)
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
    affinity: resolveAffinity({ capabilities, chain, entry }),
    balance: { strategy: entry.strategy, targets, fallbacks },
  }
}

function hasWindows(chain: ModelRoute['chain']): boolean {
  return chain.length > 1 && chain.some(({ contextWindow }) => contextWindow !== undefined)
}

function findAll(models: ReadonlyMap<string, Model>, ids: readonly string[]): readonly Model[] {
  return ids.flatMap((id) => models.get(id) ?? [])
}
