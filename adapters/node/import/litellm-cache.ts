import { type Capability, capabilityOf } from '../../../src/core/capability.ts'
import { type CacheParams, knownSettings } from './litellm-file.ts'
import { type Notes, noteUnknown } from './litellm-notes.ts'
import type { Cache } from './litellm-result.ts'
import type { Settings } from './litellm-settings.ts'
import { findVariable, type ReaderOptions, ValueReader } from './litellm-values.ts'

/** Reads the cache of answers; undefined when there is none, or none that has an equal. */
export function readCache({ litellm_settings: own }: Settings, notes: Notes): Cache | undefined {
  const { cache, cache_params: params } = own ?? {}
  const place = 'litellm_settings.cache'
  if (!cache) {
    if (params) notes.left.push(`${place}_params: the cache is off`)
    return undefined
  }
  const { type, mode, ttl, supported_call_types: calls } = params ?? {}
  if (type?.includes('semantic')) {
    notes.left.push(`${place}: no cache finds answers by similarity (${type})`)
    return undefined
  }
  if (mode === 'default_off') {
    notes.left.push(`${place}: no cache is off until a request asks for it (mode default_off)`)
    return undefined
  }
  if (type && type !== 'local' && type !== 'redis') {
    notes.left.push(`${place}_params.type: answers are kept in memory, not in ${type}`)
  }
  noteUnknown(params, { known: knownSettings.cache, place: `${place}_params.`, notes })
  return {
    ttlSeconds: ttl == null ? undefined : Math.max(1, Math.round(ttl)),
    capabilities: new Set(calls == null ? Object.values(capabilityOf) : readCalls(calls, notes)),
  }
}

function readCalls(calls: readonly string[], notes: Notes): readonly Capability[] {
  return calls.flatMap((name) => {
    // Each call has a form that starts with `a`, for asyncio.
    const found = capabilityByCall.get(name) ?? capabilityByCall.get(name.replace(/^a/, ''))
    if (found !== undefined) return [found]
    notes.left.push(`litellm_settings.cache_params.supported_call_types: no API for ${name}`)
    return []
  })
}

/** @see https://docs.litellm.ai/docs/proxy/caching_settings */
const capabilityByCall: ReadonlyMap<string, Capability> = new Map([
  ['completion', 'chat'],
  ['text_completion', 'chat'],
  ['responses', 'chat'],
  ['anthropic_messages', 'chat'],
  ['embedding', 'embed'],
  ['rerank', 'rerank'],
])

/** Where the shared state is: one of the two. */
export interface Shared {
  readonly url?: string
  readonly url_env?: string
}

/** Reads the Redis server that proxies share; undefined when the file names none. */
export function readShared(
  { router_settings: router, litellm_settings: own }: Settings,
  { env, notes }: Omit<ReaderOptions, 'place'>,
): Shared | undefined {
  const params = own?.cache ? own.cache_params : undefined
  const ofCache = params?.type?.startsWith('redis') ? toServer(params) : undefined
  const ofRouter = router && {
    url: router.redis_url,
    host: router.redis_host,
    port: router.redis_port,
    password: router.redis_password,
    ssl: router['redis_ssl'] ?? params?.ssl,
  }
  const isRouter = Boolean(ofRouter?.url || ofRouter?.host)
  const server = isRouter ? ofRouter : ofCache
  const unused = isRouter ? 'the server of router_settings counts' : 'not used with this type'
  for (const name of isRouter || !ofCache ? serverNames : []) {
    if (params?.[name] != null) notes.left.push(`litellm_settings.cache_params.${name}: ${unused}`)
  }
  for (const name of isRouter ? [] : (['redis_port', 'redis_password'] as const)) {
    if (router?.[name] != null) notes.left.push(`router_settings.${name}: without a redis_host`)
  }
  if (!server?.url && !server?.host) return undefined
  const place = isRouter ? 'router_settings.redis_' : 'litellm_settings.cache_params.'
  const found = readServer(server, { env, place, notes })
  notes.next.push(
    '[shared] makes all gateways share their state on Redis 7 or Valkey 7.2, or later, and needs one database ' +
      '(auth.db_path) for all of them; remove it for a single gateway',
  )
  return found
}

const serverNames = ['url', 'host', 'port', 'password', 'ssl'] as const

type Server = Readonly<Record<(typeof serverNames)[number], unknown>>

function toServer({ url, host, port, password, ssl }: CacheParams): Server {
  return { url, host, port, password, ssl }
}

/** A password, or a value that is not known here, must be in a variable with the whole address. */
function readServer(server: Server, options: ReaderOptions): Shared {
  const named = typeof server.url === 'string' ? findVariable(server.url) : undefined
  if (named !== undefined) return { url_env: named }
  const address = server.password ? undefined : readAddress(server, options)
  if (address !== undefined) return { url: address }
  options.notes.next.push(
    `set ${addressVariable} to the address of the Redis server with its password, such as redis://:PASSWORD@HOST:6379`,
  )
  return { url_env: addressVariable }
}

const addressVariable = 'REDIS_URL'

function readAddress(server: Server, options: ReaderOptions): string | undefined {
  const reader = new ValueReader(server, options)
  const url = reader.text('url')
  const [host, port] = [reader.text('host'), reader.text('port') ?? '6379']
  if (reader.problem !== undefined) return undefined
  const scheme = server.ssl === true ? 'rediss' : 'redis'
  const address = url ?? `${scheme}://${host}:${port}`
  return URL.canParse(address) ? address : undefined
}
