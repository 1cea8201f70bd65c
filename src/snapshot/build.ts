import type { Config, ModelConfig, ProviderConfig } from '../config/index.ts'
import type { ModelId, NanoUsd, ProviderName } from '../core/ids.ts'
import type { Clock, Environment, ReadFile, UpstreamPort } from '../core/ports.ts'
import type {
  Credential,
  Model,
  Prices,
  Provider,
  ProviderKind,
  Route,
  Target,
} from '../core/provider.ts'
import { kindNamed } from '../providers/index.ts'
import { createSnapshot, type Snapshot } from './snapshot.ts'

export interface SnapshotPorts {
  readonly env: Environment
  readonly clock: Clock
  readonly upstream: UpstreamPort
  /** Reads the files that credentials name. */
  readonly readFile?: ReadFile | undefined
}

/** Resolves a valid configuration: addresses, credentials, chains. Nobody checks these again. */
export function buildSnapshot(config: Config, ports: SnapshotPorts): Snapshot {
  const providers: Provider[] = []
  const models = new Map<string, Model>()
  const fallbacks = new Map<string, readonly string[]>()
  for (const entry of config.providers) {
    const provider = buildProvider(entry, config, ports)
    providers.push(provider)
    for (const modelEntry of entry.models) {
      models.set(modelEntry.id, buildModel(modelEntry, entry, provider, ports))
      fallbacks.set(modelEntry.id, modelEntry.fallbacks)
    }
  }
  const { resilience, image_fetch: imageFetch } = config
  return createSnapshot({
    providers,
    routes: buildRoutes(models, fallbacks),
    bodyLimit: config.server.body_limit,
    heartbeat: config.server.sse_heartbeat_ms,
    retry: {
      maxAttempts: resilience.retry_max_attempts,
      base: resilience.retry_base_ms,
      max: resilience.retry_max_ms,
    },
    breaker: {
      threshold: resilience.circuit_failure_threshold,
      cooldown: resilience.circuit_cooldown_ms,
    },
    healthCheck: {
      enabled: resilience.health_check_enabled,
      interval: resilience.health_check_interval_ms,
    },
    imageFetch: {
      enabled: imageFetch.enabled,
      maxBytes: imageFetch.max_bytes,
      timeout: imageFetch.timeout_ms,
      maxImages: imageFetch.max_images,
      schemes: imageFetch.allowed_schemes,
      hosts: imageFetch.allowed_hosts,
      prefixes: imageFetch.allowed_url_prefixes,
    },
    tokenizer: config.tokenizer.mode,
    created: Math.floor(ports.clock.now() / 1000),
  })
}

function buildProvider(entry: ProviderConfig, config: Config, ports: SnapshotPorts): Provider {
  const kind = kindNamed(entry.kind)
  const { clock, env } = ports
  const settings = {
    latency: entry.latency_ms ?? 0,
    tokensPerSecond: entry.tokens_per_second ?? 0,
    failureRate: entry.failure_rate ?? 0,
  }
  const send = kind.upstream?.(settings, clock) ?? ports.upstream
  // A kind without an address of its own has been checked to have one in the file.
  const baseUrl = entry.base_url ?? kind.defaultBaseUrl ?? ''
  const credential = findCredential(entry, kind, env)
  const context = { baseUrl, clock, env, send, readFile: ports.readFile }
  return {
    // Names are checked where they are parsed; from here on they are what the brand says.
    name: entry.name as ProviderName,
    kind,
    baseUrl,
    hasOwnBaseUrl: entry.base_url !== undefined,
    credential,
    authorize:
      credential.kind === 'secret'
        ? kind.authorizer({ ...context, secret: credential.value })
        : () => noHeaders,
    strict: entry.strict,
    connectTimeout: entry.connect_timeout_ms ?? config.resilience.connect_timeout_ms,
    ownClient: entry.connect_timeout_ms !== undefined,
    firstTokenTimeout: entry.first_token_timeout_ms ?? config.server.first_token_timeout_ms,
    totalTimeout: entry.total_timeout_ms ?? config.resilience.total_timeout_ms,
    send,
  }
}

const noHeaders = Object.freeze({})

/**
 * The credential in force. A named variable that is unset or empty, or a vendor's own address with
 * nothing to show it, fails the requests that come here, and no other.
 */
function findCredential(entry: ProviderConfig, kind: ProviderKind, env: Environment): Credential {
  const { name, api_key_env: variable } = entry
  const value = variable === undefined ? kind.ambientSecret?.(env) : env[variable]
  if (value !== undefined && value !== '') return { kind: 'secret', value }
  if (variable !== undefined) {
    const message = `provider ${name} has no credential: the variable ${variable} is unset or empty`
    return { kind: 'missing', message }
  }
  if (entry.base_url !== undefined || kind.keyless) return { kind: 'none' }
  const message = `provider ${name} has no credential: set api_key_env to the variable that holds its key`
  return { kind: 'missing', message }
}

function buildModel(
  entry: ModelConfig,
  { api_version: apiVersion, stream_usage: streamUsage }: ProviderConfig,
  provider: Provider,
  { clock, env }: SnapshotPorts,
): Model {
  const upstreamId = entry.upstream_id ?? entry.id
  const { kind, baseUrl, credential } = provider
  const target: Target = {
    baseUrl,
    hasOwnBaseUrl: provider.hasOwnBaseUrl,
    apiVersion,
    upstreamId,
    modelId: entry.id,
    streamUsage,
    clock,
    env,
    secret: credential.kind === 'secret' ? credential.value : undefined,
  }
  return {
    id: entry.id as ModelId,
    upstreamId,
    provider,
    capabilities: entry.capabilities,
    modalities: entry.modalities,
    maxOutputTokens: entry.max_output_tokens,
    prices: pricesOf(entry),
    chat: entry.capabilities.includes('chat') ? kind.chat?.(target) : undefined,
    embed: entry.capabilities.includes('embed') ? kind.embed?.(target) : undefined,
    rerank: entry.capabilities.includes('rerank') ? kind.rerank?.(target) : undefined,
  }
}

function pricesOf(entry: ModelConfig): Prices {
  const input = nanoUsd(entry.cost_per_1m_input)
  return {
    input,
    output: nanoUsd(entry.cost_per_1m_output),
    cachedInput:
      entry.cost_per_1m_cached_input === undefined
        ? input
        : nanoUsd(entry.cost_per_1m_cached_input),
    cacheWrite:
      entry.cost_per_1m_cache_write === undefined ? input : nanoUsd(entry.cost_per_1m_cache_write),
    searches: nanoUsd(entry.cost_per_1k_searches),
  }
}

/** A price of the file, as whole nano-dollars. An absent one is 0. */
function nanoUsd(dollars: number | undefined): NanoUsd {
  return BigInt(Math.round((dollars ?? 0) * 1e9)) as NanoUsd
}

/** A fallback's own fallbacks are not followed. */
function buildRoutes(
  models: ReadonlyMap<string, Model>,
  fallbacks: ReadonlyMap<string, readonly string[]>,
): Map<string, Route> {
  const routes = new Map<string, Route>()
  for (const [id, model] of models) {
    const others = (fallbacks.get(id) ?? []).flatMap((other) => models.get(other) ?? [])
    routes.set(id, { model, chain: [model, ...others] })
  }
  return routes
}
