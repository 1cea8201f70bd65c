import type { Config, ModelConfig, ProviderConfig } from '../config/index.ts'
import { version } from '../core/version.ts'
import { blake3Hex } from '../wire/digest.ts'

interface ConfiguredModel {
  readonly entry: ModelConfig
  readonly owner: ProviderConfig
}

/**
 * Returns the revision of every model whose answers may be cached, by its id: a hash of all settings that
 * may change an answer, those of its fallbacks included. Empty while the cache is off.
 */
export function createCacheRevisions(config: Config): ReadonlyMap<string, string> {
  const revisions = new Map<string, string>()
  if (!config.cache.enabled) return revisions
  const models = new Map<string, ConfiguredModel>(
    config.providers.flatMap((owner) =>
      owner.models.map((entry) => [entry.id, { entry, owner }] as const),
    ),
  )
  for (const [id, model] of models) {
    if (!model.entry.cache) continue
    const fallbacks = model.entry.fallbacks.flatMap((other) => models.get(other) ?? [])
    const links = [model, ...fallbacks].map(({ entry, owner }) => ({ ...owner, models: entry }))
    revisions.set(id, blake3Hex(JSON.stringify([version, config.image_fetch, links])))
  }
  return revisions
}
