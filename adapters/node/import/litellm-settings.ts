import type { RouteStrategy } from '../../../src/core/route.ts'
import type { Environment } from '../../../src/index.ts'
import { knownSettings, type LitellmFile } from './litellm-file.ts'
import { type Notes, noteUnknown } from './litellm-notes.ts'
import { readTimeout, readTotal, type Timeouts } from './litellm-timeout.ts'

/** What a file has beside its models. */
export type Settings = Pick<
  LitellmFile,
  'router_settings' | 'litellm_settings' | 'general_settings' | 'environment_variables'
>

/** Notes the settings that are not converted. */
export function noteSettings(settings: Settings, notes: Notes): void {
  const { router_settings: router, litellm_settings: own, general_settings: general } = settings
  noteUnknown(router, { known: knownSettings.router, place: 'router_settings.', notes })
  noteUnknown(own, { known: knownSettings.own, place: 'litellm_settings.', notes })
  noteUnknown(general, { known: knownSettings.general, place: 'general_settings.', notes })
  noteUnknown(settings, { known: knownSettings.file, place: '', notes })
  for (const name of sharedNames) {
    if (router?.[name] == null || own?.[name] == null) continue
    notes.left.push(`litellm_settings.${name}: that of router_settings counts`)
  }
  if (own?.drop_params === false) {
    notes.left.push('litellm_settings.drop_params: set strict = true on the providers')
  }
}

/** What both tables may have. */
const sharedNames = [
  'fallbacks',
  'context_window_fallbacks',
  'content_policy_fallbacks',
  'default_fallbacks',
  'num_retries',
  'allowed_fails',
  'cooldown_time',
] as const

/** Returns the variables of the process with those that the file sets, which win in LiteLLM. */
export function readVariables(
  { environment_variables: own }: Settings,
  env: Environment,
): Environment {
  const texts = Object.entries(own ?? {}).flatMap(([name, value]) =>
    isPlain(value) ? [[name, String(value)] as const] : [],
  )
  return { ...env, ...Object.fromEntries(texts) }
}

function isPlain(value: unknown): boolean {
  if (value === null || value === undefined || typeof value === 'object') return false
  return !String(value).startsWith('os.environ/')
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
export function readResilience(settings: Settings, timeout: number | undefined) {
  const { router_settings: router, litellm_settings: own } = settings
  const retries = router?.num_retries ?? own?.num_retries ?? undefined
  const fails = router?.allowed_fails ?? own?.allowed_fails ?? undefined
  const cooldown = router?.cooldown_time ?? own?.cooldown_time ?? undefined
  return {
    retry_max_attempts: retries === undefined ? undefined : retries + 1,
    circuit_failure_threshold: fails === undefined ? undefined : fails + 1,
    circuit_cooldown_ms: cooldown === undefined ? undefined : Math.round(cooldown * 1_000),
    total_timeout_ms: readTotal(timeout),
  }
}

/** Returns the limits of the whole file. */
export function readTimeouts({
  router_settings: router,
  litellm_settings: own,
}: Settings): Timeouts {
  return {
    timeout: router?.timeout ?? own?.request_timeout,
    stream_timeout: router?.stream_timeout,
  }
}

/** Returns the limit of the whole file in milliseconds. */
export function readFileTimeout(settings: Settings, notes: Notes): number | undefined {
  const { router_settings: router, litellm_settings: own } = settings
  if (router?.timeout != null && own?.request_timeout != null) {
    notes.left.push('litellm_settings.request_timeout: timeout of router_settings counts')
  }
  return readTimeout(readTimeouts(settings), { place: 'router_settings.', notes })
}

/** Returns how many calls at once a deployment may get that does not say it. */
export function readMaxParallel({ router_settings: router, general_settings: general }: Settings) {
  return router?.default_max_parallel_requests ?? general?.max_parallel_requests ?? undefined
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
