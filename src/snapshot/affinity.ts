import type { ProviderConfig, RouteConfig } from '../config/index.ts'
import type { AffinityPolicy, RouteAffinity } from '../core/affinity.ts'
import type { ModelRoute } from '../core/route.ts'

type AffinitySettings = Pick<ProviderConfig, 'affinity' | 'affinity_ttl_seconds'>

export function toAffinityPolicy(settings: AffinitySettings): AffinityPolicy {
  return { mode: toMode(settings.affinity), ttl: settings.affinity_ttl_seconds * 1000 }
}

interface AffinityParts extends Pick<ModelRoute, 'capabilities' | 'chain'> {
  /** Absent for a model. */
  readonly entry?: RouteConfig
}

/** Finds out what of a chain sessions stay at; undefined where they make no difference. */
export function resolveAffinity({
  capabilities,
  chain,
  entry,
}: AffinityParts): RouteAffinity | undefined {
  // Only what reads prompts has a cache of them.
  if (!capabilities.includes('chat') && !capabilities.includes('decisions')) return undefined
  const targets = entry ? toTargetPolicy(entry) : none
  const credentials = chain
    .filter(({ provider }) => provider.usable.length > 1)
    .map(({ provider }) => provider.affinity)
  const modes = [targets, ...credentials].map(({ mode }) => mode)
  if (modes.every((mode) => mode === 'off')) return undefined
  return { targets, byPrefix: modes.includes('prefix') }
}

const none: AffinityPolicy = Object.freeze({ mode: 'off', ttl: 0 })

function toTargetPolicy({ strategy, targets, ...settings }: RouteConfig): AffinityPolicy {
  // A target of weight 0 is never the first choice, so nothing stays there.
  if (targets.filter(({ weight }) => weight > 0).length < 2) return none
  const { affinity = strategy !== 'cheapest', affinity_ttl_seconds } = settings
  return toAffinityPolicy({ affinity, affinity_ttl_seconds })
}

function toMode(setting: AffinitySettings['affinity']): AffinityPolicy['mode'] {
  if (setting === 'prefix') return 'prefix'
  return setting ? 'session' : 'off'
}
