import type { RouteStrategy } from '../../../src/core/route.ts'
import type { Environment } from '../../../src/index.ts'
import { knownOwn, knownRouter, type LitellmFile } from './litellm-file.ts'
import { type Notes, noteUnknown } from './litellm-notes.ts'

/** What a file has beside its models. */
export type Settings = Pick<
  LitellmFile,
  'router_settings' | 'litellm_settings' | 'general_settings'
>

/** Notes the settings that are not converted. */
export function noteSettings(settings: Settings, notes: Notes): void {
  const { router_settings: router, litellm_settings: own, general_settings: general } = settings
  noteUnknown(router, { known: knownRouter, place: 'router_settings.', notes })
  noteUnknown(own, { known: knownOwn, place: 'litellm_settings.', notes })
  noteUnknown(general, { known: ['master_key'], place: 'general_settings.', notes })
  noteUnknown(settings, {
    known: ['router_settings', 'litellm_settings', 'general_settings'],
    place: '',
    notes,
  })
  if (own?.drop_params === false) {
    notes.left.push('litellm_settings.drop_params: set strict = true on the providers')
  }
}

/** Whether the proxy asks its clients for a key: by a master key, or in another way that has no equivalent here. */
export function isGuarded({ general_settings: general }: Settings, env: Environment): boolean {
  const isSet = (name: string) => {
    const value = general?.[name]
    return value !== undefined && value !== null && value !== false && value !== ''
  }
  return guards.some(isSet) || Boolean(env['LITELLM_MASTER_KEY'])
}

/** @see https://docs.litellm.ai/docs/proxy/config_settings */
const guards = [
  'master_key',
  'custom_auth',
  'enable_jwt_auth',
  'enable_oauth2_auth',
  'enable_oauth2_proxy_auth',
  'database_url',
  'allowed_ips',
]

/** Returns the settings of `[resilience]`, without those that the file leaves to the default. */
export function readResilience({ router_settings: router, litellm_settings: own }: Settings) {
  const retries = router?.num_retries ?? own?.num_retries ?? undefined
  const fails = router?.allowed_fails ?? own?.allowed_fails ?? undefined
  const cooldown = router?.cooldown_time ?? own?.cooldown_time ?? undefined
  return {
    retry_max_attempts: retries === undefined ? undefined : retries + 1,
    circuit_failure_threshold: fails === undefined ? undefined : fails + 1,
    circuit_cooldown_ms: cooldown === undefined ? undefined : Math.round(cooldown * 1_000),
  }
}

/** The fallbacks of the file, by the names of LiteLLM. */
export interface Fallbacks {
  readonly byName: ReadonlyMap<string, readonly string[]>
  /** Those of a name without its own. */
  readonly others: readonly string[]
}

export function readFallbacks({
  router_settings: router,
  litellm_settings: own,
}: Settings): Fallbacks {
  const lists = [...(router?.fallbacks ?? []), ...(own?.fallbacks ?? [])].flatMap(Object.entries)
  const byName = new Map<string, readonly string[]>(lists)
  const general = router?.default_fallbacks ?? own?.default_fallbacks ?? []
  return { byName, others: byName.get('*') ?? general }
}

/** Returns the other names of models: the alias and the name that it stands for. */
export function readAliases({ router_settings: router }: Settings) {
  return Object.entries(router?.model_group_alias ?? {}).map(([alias, target]) => {
    return { alias, target: typeof target === 'string' ? target : target.model }
  })
}

/** The strategies of LiteLLM that a route has. https://docs.litellm.ai/docs/routing */
const strategies: ReadonlyMap<string, RouteStrategy> = new Map([
  ['simple-shuffle', 'weighted'],
  ['least-busy', 'least_busy'],
  ['latency-based-routing', 'fastest'],
  ['cost-based-routing', 'cheapest'],
])

export function readStrategy({ router_settings: router }: Settings, notes: Notes): RouteStrategy {
  const name = router?.routing_strategy ?? undefined
  const strategy = name === undefined ? 'weighted' : strategies.get(name)
  if (strategy === undefined) {
    notes.left.push(`router_settings.routing_strategy: no route has ${name}; "weighted" is written`)
  }
  return strategy ?? 'weighted'
}
