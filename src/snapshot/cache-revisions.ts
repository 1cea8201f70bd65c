import type { Config, ModelConfig, ProviderConfig } from '../config/index.ts'
import { isPattern, PatternIndex } from '../core/model-pattern.ts'
import { version } from '../core/version.ts'
import { blake3Hex } from '../wire/digest.ts'

interface ConfiguredModel {
  readonly entry: ModelConfig
  readonly owner: ProviderConfig
}

/** The revisions by the ids of models and routes. All ids that a pattern serves have that of the pattern. */
export type CacheRevisions = Pick<ReadonlyMap<string, string>, 'get'>

/**
 * Returns the revision of every model and route whose answers may be cached, by its id: a hash of all
 * settings that may change an answer, those of its fallbacks included. A route allows the cache when all of
 * its targets do. Empty while the cache is off.
 */
export function createCacheRevisions(config: Config): CacheRevisions {
  const revisions = new Map<string, string>()
  if (!config.cache.enabled) return revisions
  const models = new Map<string, ConfiguredModel>(
    config.providers.flatMap((owner) =>
      owner.models.map((entry) => [entry.id, { entry, owner }] as const),
    ),
  )
  const patterns = new PatternIndex([...models].filter(([id]) => isPattern(id)))
  const find = (ids: readonly string[]) =>
    ids.flatMap((id) => {
      const served = models.has(id) ? undefined : patterns.find(id)?.entry
      return served ? { ...served, entry: { ...served.entry, id } } : (models.get(id) ?? [])
    })
  const add = (id: string, named: readonly ConfiguredModel[], fallbacks: readonly string[]) => {
    if (!named.every(({ entry }) => entry.cache)) return
    const chain = [...named, ...find(fallbacks)]
    const links = chain.map(({ entry, owner }) => ({ ...owner, models: entry }))
    revisions.set(id, blake3Hex(JSON.stringify([version, config.image_fetch, links])))
  }
  for (const [id, model] of models) add(id, [model], model.entry.fallbacks)
  for (const { id, strategy, targets, fallbacks } of config.routes) {
    // A switch serves each request as its target, whose answers these are.
    if (strategy !== 'switch') add(id, find(targets.map(({ model }) => model)), fallbacks)
  }
  const taken = new Set([...models.keys(), ...config.routes.map(({ id }) => id)])
  return {
    get(id) {
      const served = taken.has(id) ? undefined : patterns.find(id)?.entry
      return revisions.get(served ? served.entry.id : id)
    },
  }
}
