import { findMissingPrices } from '../core/known-prices.ts'
import { isPattern, PatternIndex } from '../core/model-pattern.ts'
import { priceNames } from '../core/price-settings.ts'
import type { ModelConfig } from './model-schema.ts'
import { quoteName } from './problem.ts'
import type { ProviderConfig } from './provider-schema.ts'
import type { RouteConfig } from './route-schema.ts'
import type { Config } from './schema.ts'

/** Finds settings that are valid but probably a mistake. */
export function findWarnings({
  auth,
  cache,
  providers,
  routes,
  image_fetch,
  server,
  shared,
  webhooks,
}: Config): readonly string[] {
  const models = providers.flatMap((provider) => provider.models)
  const warnings: string[] = []
  if (models.length === 0) {
    warnings.push('no model is configured, so the gateway cannot serve any request')
  }
  if (auth.enabled) warnings.push(...findPriceWarnings(auth, models))
  warnings.push(...findDiscoveryWarnings(providers))
  warnings.push(...findCacheWarnings(cache, models))
  warnings.push(...findRouteWarnings(routes, models))
  warnings.push(...findRoomWarnings(providers, shared ? 1 : server.workers))
  if (!auth.enabled) warnings.push(...findSwitchWarnings(routes))
  const limits = [...image_fetch.allowed_hosts, ...image_fetch.allowed_url_prefixes]
  if (image_fetch.enabled && limits.length === 0) {
    warnings.push(
      'image_fetch is on while allowed_hosts and allowed_url_prefixes are empty, ' +
        'so images are fetched from any public host',
    )
  }
  if (webhooks) warnings.push(...findWebhookWarnings(webhooks))
  return warnings
}

function findWebhookWarnings({
  format,
  signing_key_env: variable,
}: NonNullable<Config['webhooks']>): readonly string[] {
  const hasKey = variable !== undefined
  if (format === 'slack') {
    const message = 'webhooks.signing_key_env has no effect: the format of Slack has no signature'
    return hasKey ? [message] : []
  }
  const message =
    'webhooks.signing_key_env is not set, so deliveries are unsigned unless a signing key is stored'
  return hasKey ? [] : [message]
}

function findPriceWarnings(
  { unpriced }: Config['auth'],
  models: readonly ModelConfig[],
): readonly string[] {
  if (unpriced === 'allow') {
    return models
      .filter((model) => !hasPrice(model))
      .map(
        ({ id }) =>
          `model ${quoteName(id)} has no price, so it costs nothing and no budget limits it`,
      )
  }
  const whose = unpriced === 'refuse' ? 'requests' : 'requests of keys and groups with a cap'
  return models
    .filter((model) => !model.fillPrices)
    .flatMap((model) =>
      [...new Set(Object.values(findMissingPrices(model)))].map(
        (setting) =>
          `model ${quoteName(model.id)} has no ${setting}, so auth.unpriced refuses ${whose} to it`,
      ),
    )
}

function findDiscoveryWarnings(providers: Config['providers']): readonly string[] {
  return providers
    .filter(({ discover, models }) => discover && !models.some(({ id }) => isPattern(id)))
    .map(
      ({ name }) =>
        `provider ${name}: discover has no effect, because no id of a model there ends in *`,
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
            `model ${quoteName(model)} has no price, so route ${quoteName(id)} takes it for the cheapest`,
        ),
    )
}

/** `workers`: how many there are that divide the limits among them. */
function findRoomWarnings(
  providers: readonly ProviderConfig[],
  workers: Config['server']['workers'],
): readonly string[] {
  const named = providers.flatMap((provider) => [
    { name: `provider ${quoteName(provider.name)}`, ...pickRoom(provider) },
    ...provider.models.map((model) => ({
      name: `model ${quoteName(model.id)}`,
      ...pickRoom(model),
    })),
  ])
  return named.flatMap(({ name, maxParallel, queueMax, queueMs }) => {
    if (maxParallel === undefined) {
      const isIdle = queueMax > 0 || queueMs > 0
      return isIdle ? [`${name} has a queue without max_parallel, so nothing waits in it`] : []
    }
    const found: string[] = []
    if (queueMax > 0 !== queueMs > 0) {
      const [set, missing] = queueMax > 0 ? ['queue_max', 'queue_ms'] : ['queue_ms', 'queue_max']
      found.push(`${name} sets ${set} without ${missing}, so nothing waits in its queue`)
    }
    if (typeof workers === 'number' && maxParallel < workers) {
      found.push(
        `${name} has max_parallel = ${maxParallel}, but each of ${workers} workers makes at least one call at once; ` +
          'with [shared] the limit holds over all of them',
      )
    }
    return found
  })
}

function pickRoom(settings: Pick<ProviderConfig, 'max_parallel' | 'queue_max' | 'queue_ms'>) {
  const { max_parallel: maxParallel, queue_max: queueMax, queue_ms: queueMs } = settings
  return { maxParallel, queueMax, queueMs }
}

function findSwitchWarnings(routes: readonly RouteConfig[]): readonly string[] {
  return routes.flatMap(({ id, cases }) =>
    cases.flatMap(({ when }, at) => {
      const name = (['key', 'group', 'budget_used'] as const).find((one) => when[one] !== undefined)
      if (name === undefined) return []
      return `auth is off, so case ${at + 1} of route ${quoteName(id)} never holds: it asks for ${name}`
    }),
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
    ({ id }) => `model ${quoteName(id)} sets cache = true, but cache.enabled is not true`,
  )
}

/** True when any price of a model is configured, even if it is 0. */
export function hasPrice(model: ModelConfig): boolean {
  return (
    model.fillPrices !== undefined ||
    model.prices.length > 0 ||
    priceNames.some((name) => model[name] !== undefined)
  )
}
