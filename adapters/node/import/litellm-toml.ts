import type { Capability } from '../../../src/core/capability.ts'
import { isPattern } from '../../../src/core/model-pattern.ts'
import type { RouteStrategy } from '../../../src/core/route.ts'
import type { Entry } from './litellm-file.ts'
import type { Cache, ConvertedModel, ConvertedProvider, Fallbacks } from './litellm-result.ts'
import { readTotal } from './litellm-timeout.ts'

/** What the settings of the whole file say about each model. */
export interface Common {
  readonly cache: Cache | undefined
  /** Calls at once to a model that does not say it. */
  readonly maxParallel: number | undefined
  /** Returns the fallbacks of a model. */
  readonly listFallbacks: (id: string) => Fallbacks
}

/** Writes a table; nothing when it has no keys. */
export function writeTable(name: string, keys: Readonly<Record<string, unknown>>): string {
  const text = writeKeys(keys)
  return text === '' ? '' : `\n[${name}]\n${text}`
}

/** Writes a provider with its models. */
export function writeProvider(provider: ConvertedProvider, common: Common): string {
  const { name, kind, variable, credentials, profile, address, version, timeout, models } = provider
  const keys = {
    name,
    kind,
    api_key_env: variable,
    credentials,
    aws_profile: profile,
    base_url: address,
    api_version: version,
    first_token_timeout_ms: timeout,
    total_timeout_ms: readTotal(timeout),
  }
  return `
[[providers]]
${writeKeys(keys)}
${models.map((model) => `\n[[providers.models]]\n${writeKeys(toModel(model, common))}`).join('\n')}`
}

const capabilityByMode: Readonly<Record<string, Capability>> = {
  embedding: 'embed',
  rerank: 'rerank',
  decisions: 'decisions',
  evaluation: 'decisions',
}

/** Returns the capability of a model; undefined for chat. */
export function findCapability({ entry }: ConvertedModel): Capability | undefined {
  return capabilityByMode[entry.model_info?.mode ?? '']
}

/** Whether the result has a price for the prompts of a model. */
export function hasPrices({ id, entry }: ConvertedModel): boolean {
  return isPattern(id) || (readPrices(entry).input ?? 0) > 0
}

function readPrices({ litellm_params: params, model_info: info }: Entry) {
  return {
    input: params.input_cost_per_token ?? info?.input_cost_per_token ?? undefined,
    output: params.output_cost_per_token ?? info?.output_cost_per_token ?? undefined,
  }
}

function toModel(model: ConvertedModel, { cache, maxParallel, listFallbacks }: Common) {
  const { id, upstreamId, entry } = model
  const { model_info: info, litellm_params: params } = entry
  const capability = findCapability(model)
  const { input, output } = readPrices(entry)
  const { ids: fallbacks, causes } = listFallbacks(id)
  const calls = params.max_parallel_requests ?? maxParallel
  return {
    id,
    upstream_id: isSameName(model) ? undefined : upstreamId,
    capabilities: capability && [capability],
    modalities: info?.supports_vision ? ['text', 'image'] : undefined,
    max_input_tokens: info?.max_input_tokens ?? undefined,
    max_output_tokens: info?.max_output_tokens ?? undefined,
    // No command can write the prices of a pattern.
    prices: isPattern(id) ? 'table' : undefined,
    cost_per_1m_input: toMillion(input),
    cost_per_1m_output: toMillion(output),
    cache: cache?.capabilities.has(capability ?? 'chat') ? true : undefined,
    max_parallel: calls,
    ...(calls !== undefined && queue),
    fallbacks: fallbacks.length > 0 ? fallbacks : undefined,
    fallback_on: causes.length > 0 ? causes : undefined,
  }
}

/** What the vendor's name is without the setting: the id, or for a pattern the rest of what the client writes. */
function isSameName({ id, upstreamId }: ConvertedModel): boolean {
  return upstreamId === (isPattern(id) ? '*' : id)
}

/** In LiteLLM further calls wait; here as many of them, and as long. */
const queue = { queue_max: 1_000, queue_ms: 60_000 }

/** Rounds away the noise of binary fractions. */
function toMillion(usd: number | undefined): number | undefined {
  return usd === undefined ? undefined : Number((usd * 1_000_000).toPrecision(12))
}

interface RouteEntry {
  readonly id: string
  readonly strategy: RouteStrategy
  readonly targets: readonly ConvertedModel[]
  readonly fallbacks: Fallbacks
}

/** Writes a route that chooses one of the models for each request. */
export function writeRoute({ id, strategy, targets, fallbacks }: RouteEntry): string {
  const weights = strategy === 'weighted' ? weigh(targets) : targets.map(readWeight)
  const list = targets.map(({ id: model }, at) => {
    const weight = weights[at]
    return `{ model = ${toToml(model)}${weight === undefined ? '' : `, weight = ${weight}`} }`
  })
  const { ids, causes } = fallbacks
  const more = writeKeys({
    fallbacks: ids.length > 0 ? ids : undefined,
    fallback_on: causes.length > 0 ? causes : undefined,
  })
  const head = `\n[[routes]]\n${writeKeys({ id, strategy })}\ntargets = [${list.join(', ')}]`
  return more === '' ? head : `${head}\n${more}`
}

function readWeight({ entry }: ConvertedModel): number | undefined {
  return entry.litellm_params.weight ?? undefined
}

/** Without weights, LiteLLM spreads requests by the rates of the deployments, if all have one. */
function weigh(targets: readonly ConvertedModel[]): readonly (number | undefined)[] {
  const own = targets.map(readWeight)
  if (own.some((weight) => weight !== undefined) || targets.length === 1) return own
  const rates = (['rpm', 'tpm'] as const)
    .map((name) => targets.map(({ entry }) => entry.litellm_params[name]))
    .find((all) => all.every((rate) => typeof rate === 'number' && rate > 0))
  if (rates === undefined) return own
  const scale = Math.max(1, ...rates.map((rate) => Number(rate) / maxWeight))
  return rates.map((rate) => Number((Number(rate) / scale).toPrecision(6)))
}

const maxWeight = 1_000_000

function writeKeys(keys: Readonly<Record<string, unknown>>): string {
  return Object.entries(keys)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} = ${toToml(value)}`)
    .join('\n')
}

/** JSON of texts, numbers and arrays of texts is also TOML, but for DEL and lone surrogates. */
function toToml(value: unknown): string {
  const json = JSON.stringify(value, (_, part) =>
    typeof part === 'string' ? part.replaceAll(/\p{Surrogate}/gu, '\ufffd') : part,
  )
  return json.replaceAll('\u007f', '\\u007f')
}
