import type { CloudQuery } from '../cloud/index.ts'
import {
  type Config,
  hasPrice,
  type ModelConfig,
  type ProviderConfig,
  toProfileSettings,
} from '../config/index.ts'
import type { CloudSource } from '../core/cloud-credential.ts'
import type { ModelId, ProviderName, UnixSeconds } from '../core/ids.ts'
import { findMissingPrices, isFree, listPricedTools } from '../core/known-prices.ts'
import type { ModelList } from '../core/model-list.ts'
import { isPattern, type ModelMatch } from '../core/model-pattern.ts'
import type { Clock, Egress, Environment, ReadFile, UpstreamPort } from '../core/ports.ts'
import type { PriceTable } from '../core/price-table.ts'
import type { ToolReserve } from '../core/prices.ts'
import type { Model, Provider } from '../core/provider.ts'
import type { DialectTarget, StreamUsage } from '../core/provider-kind.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import type { ListQuery } from '../discovery/index.ts'
import { createPriceTable, isPriced, readToolCosts, toBasePrices } from '../pricing/index.ts'
import { bindNative, createCostReader, getKind } from '../providers/index.ts'
import { toAffinityPolicy } from './affinity.ts'
import { buildUsable } from './authorizer.ts'
import { overrideBodies } from './body-overrides.ts'
import { buildRoutes } from './build-routes.ts'
import { createCacheRevisions } from './cache-revisions.ts'
import { changeBodies } from './change-bodies.ts'
import { findCredentials } from './credential.ts'
import { toLinkRoom } from './link-room.ts'
import type { Pattern } from './patterns.ts'
import { type PreviousSnapshot, reuseUnchanged, type UnchangedParts } from './reuse.ts'
import { createSnapshot, type Snapshot } from './snapshot.ts'

export interface SnapshotPorts {
  readonly env: Environment
  readonly clock: Clock
  readonly upstream: UpstreamPort
  /** Reads the files that credentials name. */
  readonly readFile?: ReadFile | undefined
  /** Opens the credential that a cloud provides; undefined when the host cannot find any. */
  readonly openCloud?: ((query: CloudQuery) => CloudSource | undefined) | undefined
  /** Opens the list of models of a vendor; undefined where none is read. */
  readonly openList?: ((query: ListQuery) => ModelList) | undefined
  /** Wraps the upstream port of a provider to watch its calls. */
  readonly watch?: ((send: UpstreamPort) => UpstreamPort) | undefined
}

/** The inputs of a snapshot besides the configuration. */
export interface SnapshotSources extends SnapshotPorts {
  /** The stored keys of providers, by the provider's name. */
  readonly storedKeys?: ReadonlyMap<string, string> | undefined
  /** The text of every `ca_file`, by the provider's name. */
  readonly authorities?: ReadonlyMap<string, string> | undefined
  /** The snapshot to replace, whose unchanged parts are reused. */
  readonly previous?: PreviousSnapshot | undefined
}

/** Resolves the addresses, credentials and chains of a valid configuration, once and for all. */
export function buildSnapshot(config: Config, sources: SnapshotSources): Snapshot {
  const unchanged = reuseUnchanged(sources.previous)
  const now = unixSeconds(sources.clock)
  const providers: Provider[] = []
  const models: Model[] = []
  const patterns: Pattern[] = []
  const warnings = new Set<string>()
  for (const entry of config.providers) {
    const provider = buildProvider(entry, { config, sources, unchanged })
    providers.push(provider)
    const siblings = new Map<string, Model>()
    const findSibling = (upstreamId: string) => siblings.get(upstreamId)
    for (const modelEntry of entry.models) {
      const created = unchanged.model(modelEntry, entry)?.created ?? now
      const parts = { config, owner: entry, provider, sources }
      // What a pattern serves shares its room: clients may invent ids.
      const room = toLinkRoom(entry, modelEntry)
      const bind: Pattern['bind'] = (bound, match) => {
        const target = createTarget(bound, parts)
        const facts = { owner: entry, target, provider, created, findSibling, match, room }
        return buildModel(bound, facts)
      }
      const model = bind(modelEntry, undefined)
      models.push(model)
      if (isPattern(modelEntry.id)) patterns.push({ model, entry: modelEntry, bind })
      // An entry with the same name at the vendor may have the prices of another API.
      else if (model.chat ?? !siblings.has(model.upstreamId)) siblings.set(model.upstreamId, model)
      const warning = provider.kind.findWarning?.(createTarget(modelEntry, parts))
      if (warning !== undefined) warnings.add(`provider ${provider.name}: ${warning}`)
    }
  }
  const { resilience, image_fetch: imageFetch, cache } = config
  const cacheRevisions = createCacheRevisions(config)
  return createSnapshot({
    providers,
    warnings: [...warnings],
    models,
    ...buildRoutes(config, { models, patterns, now, unchanged, cacheRevisions }),
    cache: {
      policy: {
        enabled: cache.enabled,
        ttl: cache.ttl_seconds * 1000,
        maxBytes: cache.max_bytes,
        maxEntryBytes: cache.max_entry_bytes,
      },
      revisions: cacheRevisions,
    },
    bodyLimit: config.server.body_limit,
    answerLimit: config.server.answer_limit,
    totalTimeout: resilience.total_timeout_ms,
    heartbeat: config.server.sse_heartbeat_ms,
    retry: {
      maxAttempts: resilience.retry_max_attempts,
      baseWait: resilience.retry_base_ms,
      maxWait: resilience.retry_max_ms,
      maxRetryAfter: resilience.retry_after_max_ms,
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
    reserveOutputTokens: config.auth.reserve_output_tokens,
    unpriced: config.auth.unpriced,
  })
}

interface ProviderParts {
  readonly config: Config
  readonly sources: SnapshotSources
  readonly unchanged: UnchangedParts
}

function buildProvider(
  entry: ProviderConfig,
  { config, sources, unchanged }: ProviderParts,
): Provider {
  const kind = getKind(entry.kind)
  const { clock, env, upstream, readFile, openCloud, openList, watch = (port) => port } = sources
  const settings = {
    latency: entry.latency_ms ?? 0,
    tokensPerSecond: entry.tokens_per_second ?? 0,
    failureRate: entry.failure_rate ?? 0,
  }
  // `check-kinds.ts` requires a base_url for kinds without a default address.
  const baseUrl = entry.base_url ?? kind.defaultBaseUrl ?? ''
  const credentials = findCredentials(entry, kind, sources)
  const ca = sources.authorities?.get(entry.name)
  const kept = unchanged.provider(entry, { credentials, ca })
  const egress = kept?.egress ?? createEgress(entry, ca)
  const send = kind.createUpstream?.(settings, clock) ?? sendThrough(egress, upstream)
  const cloud =
    kept?.cloud ??
    (entry.credentials &&
      openCloud?.({
        provider: entry.name,
        cloud: entry.credentials,
        profile: entry.aws_profile,
        send,
      }))
  return {
    // The schema has checked the name.
    name: entry.name as ProviderName,
    kind,
    baseUrl,
    hasCustomBaseUrl: entry.base_url !== undefined,
    healthPath: entry.health_path,
    credentials,
    usable: buildUsable(kind, credentials, { baseUrl, clock, env, send, readFile, kept, cloud }),
    affinity: toAffinityPolicy(entry),
    cloud,
    ...(entry.discover &&
      entry.models.some(({ id }) => isPattern(id)) && {
        list: openList?.({ provider: entry.name, kind: kind.name, baseUrl }),
        listInterval: entry.discover_interval_ms,
      }),
    strict: entry.strict,
    forwardsMediaUrls: entry.remote_images,
    mapsInputType: entry.map_input_type,
    connectTimeout: entry.connect_timeout_ms ?? config.resilience.connect_timeout_ms,
    dedicatedPool: entry.connect_timeout_ms !== undefined,
    firstTokenTimeout: entry.first_token_timeout_ms ?? config.server.first_token_timeout_ms,
    totalTimeout: entry.total_timeout_ms ?? config.resilience.total_timeout_ms,
    egress,
    send: kept?.send ?? watch(send),
  }
}

function createEgress({ proxy }: ProviderConfig, ca: string | undefined): Egress | undefined {
  return proxy === undefined && ca === undefined ? undefined : { proxy, ca }
}

/** Sends every request of a provider through its proxy and with its certificate authorities. */
function sendThrough(egress: Egress | undefined, send: UpstreamPort): UpstreamPort {
  return egress ? (request) => send({ ...request, egress }) : send
}

interface TargetParts {
  readonly config: Config
  readonly owner: ProviderConfig
  readonly provider: Provider
  readonly sources: SnapshotSources
}

function createTarget(
  entry: ModelConfig,
  { config, owner, provider, sources: { clock, env } }: TargetParts,
): DialectTarget {
  const { baseUrl, hasCustomBaseUrl, credentials, cloud } = provider
  return {
    baseUrl,
    hasCustomBaseUrl,
    apiVersion: owner.api_version,
    upstreamId: entry.upstream_id ?? (isPattern(entry.id) ? '*' : entry.id),
    modelId: entry.id,
    maxOutputTokens: entry.max_output_tokens,
    takesEffort: entry.reasoning,
    profileSettings: toProfileSettings([owner.profile, entry.profile]),
    messagesUrl: owner.messages_url,
    streamUsage: resolveStreamUsage(owner, config),
    speaksResponses: owner.responses,
    decisionForm: entry.decisions,
    decisionsPath: entry.decisions_path,
    readCost: createReader(entry, owner),
    mayAskUsage: owner.stream_usage !== false,
    forwardsMediaUrls: provider.forwardsMediaUrls,
    clock,
    env,
    secret: credentials.flatMap((one) => (one.kind === 'secret' ? one.value : []))[0],
    cloud,
  }
}

/** Undefined where the configuration does not say where answers state their cost. */
function createReader(entry: ModelConfig, owner: ProviderConfig): DialectTarget['readCost'] {
  const path = entry.cost_field ?? owner.cost_field
  const unit = entry.cost_unit ?? owner.cost_unit ?? 'usd'
  return path === undefined ? undefined : createCostReader({ path, unit })
}

interface ModelParts {
  readonly owner: ProviderConfig
  readonly findSibling: Model['findSibling']
  /** Absent for an id of the configuration. */
  readonly match: ModelMatch | undefined
  readonly room: Model['room']
  readonly target: DialectTarget
  readonly provider: Provider
  readonly created: UnixSeconds
}

function buildModel(
  entry: ModelConfig,
  { owner, target, provider, created, findSibling, match, room }: ModelParts,
): Model {
  const { kind } = provider
  const prices = toBasePrices(entry, owner.price_multiplier)
  const priceTable = buildPriceTable(entry, owner, provider)
  const cacheMarker = entry.cache_marks && kind.findMarker?.(target)
  const endpoints = {
    chat: entry.capabilities.includes('chat') ? kind.chat?.(target) : undefined,
    native: entry.capabilities.includes('chat') ? bindNative(kind, target) : {},
    embed: entry.capabilities.includes('embed') ? kind.embed?.(target) : undefined,
    rerank: entry.capabilities.includes('rerank') ? kind.rerank?.(target) : undefined,
    decisions: entry.capabilities.includes('decisions') ? kind.decisions?.(target) : undefined,
  }
  return {
    id: entry.id as ModelId,
    match,
    upstreamId: target.upstreamId,
    provider,
    capabilities: entry.capabilities,
    modalities: entry.modalities,
    maxOutputTokens: entry.max_output_tokens,
    inputType: entry.input_type,
    maxBatchSize: entry.max_batch_size,
    prices,
    priceTable,
    maxInputTokens: entry.max_input_tokens,
    contextWindow: entry.context_window,
    fallbackOn: entry.fallback_on.length > 0 ? entry.fallback_on : undefined,
    room,
    toolReserve: buildToolReserve(entry),
    cacheMarker,
    // 0 turns it off.
    earlyHeartbeat: (entry.early_heartbeat_ms ?? owner.early_heartbeat_ms) || undefined,
    findSibling,
    isPriced: isPriced({ prices, priceTable }),
    hasPrice: hasPrice(entry),
    isCostReported: (entry.cost ?? owner.cost) === 'reported',
    isFree: isFree(entry),
    missingPrices: findMissingPrices(entry),
    pricedTools: listPricedTools(entry),
    created,
    ...overrideBodies(entry, cacheMarker ? changeBodies(endpoints, cacheMarker.mark) : endpoints),
  }
}

const defaultToolCalls = 4

/** Undefined where the tools of a request make no difference. */
function buildToolReserve(entry: ModelConfig): ToolReserve | undefined {
  const { reserve_tool_calls: configured, reserve_tool_tokens: tokens } = entry
  const hasFees = [entry, ...entry.prices].some((prices) => readToolCosts(prices) !== undefined)
  if (!hasFees && tokens === 0) return undefined
  const ofStored = configured === undefined ? [] : [...listPricedTools(entry)]
  return { calls: configured ?? defaultToolCalls, tokens, ofStored }
}

/** Undefined for a model whose prices depend on nothing but the kind of token. */
function buildPriceTable(
  { prices, ...base }: ModelConfig,
  owner: ProviderConfig,
  { totalTimeout }: Provider,
): PriceTable | undefined {
  if (prices.length === 0) return undefined
  return createPriceTable({
    base,
    entries: prices,
    multiplier: owner.price_multiplier,
    autoTiers: owner.auto_tier,
    autoGeos: owner.auto_geo,
    totalTimeout,
  })
}

/** With auth off nothing is charged, so `auto` does not ask upstreams for the usage of streams. */
function resolveStreamUsage(
  { stream_usage: setting }: ProviderConfig,
  { auth }: Config,
): StreamUsage {
  if (setting === 'auto') return auth.enabled ? 'shown' : 'not-asked'
  return setting ? 'hidden' : 'not-asked'
}
