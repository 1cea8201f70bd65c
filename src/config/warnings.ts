import { findMissingPrices } from '../core/known-prices.ts'
import { isPattern, PatternIndex } from '../core/model-pattern.ts'
import { priceNames } from '../core/price-settings.ts'
import { quote } from './problem.ts'
import type { ModelConfig } from './provider-schema.ts'
import type { RouteConfig } from './route-schema.ts'
import type { Config } from './schema.ts'

/** Finds settings that are valid but probably a mistake. */
export function findWarnings({
  auth,
  cache,
  providers,
  routes,
  image_fetch,
  webhooks,
}: Config): readonly string[] {
  const models = providers.flatMap((provider) => provider.models)
  const warnings: string[] = []
  if (models.length === 0) {
    warnings.push('no model is configured, so the gateway cannot serve any request')
  }
  if (auth.enabled) warnings.push(...findPriceWarnings(auth, models))
  warnings.push(...findCacheWarnings(cache, models))
  warnings.push(...findRouteWarnings(routes, models))
  const limits = [...image_fetch.allowed_hosts, ...image_fetch.allowed_url_prefixes]
  if (image_fetch.enabled && limits.length === 0) {
    warnings.push(
      'image_fetch is on while allowed_hosts and allowed_url_prefixes are empty, ' +
        'so images are fetched from any public host',
    )
  }
  if (webhooks !== undefined && webhooks.signing_key_env === undefined) {
    warnings.push(
      'webhooks.signing_key_env is not set, so deliveries are unsigned unless a signing key is stored',
    )
  }
  return warnings
}

function findPriceWarnings(
  { unpriced }: Config['auth'],
  models: readonly ModelConfig[],
): readonly string[] {
  if (unpriced === 'allow') {
    return models
      .filter((model) => !hasPrice(model))
      .map(
        ({ id }) => `model ${quote(id)} has no price, so it costs nothing and no budget limits it`,
      )
  }
  const whose = unpriced === 'refuse' ? 'requests' : 'requests of keys and groups with a cap'
  return models.flatMap((model) =>
    [...new Set(Object.values(findMissingPrices(model)))].map(
      (setting) =>
        `model ${quote(model.id)} has no ${setting}, so auth.unpriced refuses ${whose} to it`,
    ),
  )
}

function findRouteWarnings(
  routes: readonly RouteConfig[],
  models: readonly ModelConfig[],
): readonly string[] {
  const known = new Map(models.map((model) => [model.id, model]))
  const patterns = new PatternIndex([...known].filter(([id]) => isPattern(id)))
  return routes
    .filter(({ strategy }) => strategy === 'cheapest')
    .flatMap(({ id, targets }) =>
      targets
        .filter(({ model }) => {
          const entry = known.get(model) ?? patterns.find(model)?.entry
          return entry && !hasPrice(entry)
        })
        .map(
          ({ model }) =>
            `model ${quote(model)} has no price, so route ${quote(id)} takes it for the cheapest`,
        ),
    )
}

function findCacheWarnings(
  { enabled }: Config['cache'],
  models: readonly ModelConfig[],
): readonly string[] {
  const allowing = models.filter((model) => model.cache)
  if (enabled && models.length > 0 && allowing.length === 0) {
    return ['cache.enabled is true, but no model sets cache = true, so no answer is cached']
  }
  if (enabled) return []
  return allowing.map(
    ({ id }) => `model ${quote(id)} sets cache = true, but cache.enabled is not true`,
  )
}

/** True when any price of a model is configured, even if it is 0. */
export function hasPrice(model: ModelConfig): boolean {
  return model.prices.length > 0 || priceNames.some((name) => model[name] !== undefined)
}
