import type { RouteStrategy } from '../../../src/core/route.ts'
import type { Entry } from './litellm-file.ts'

/** A provider to write, with its models. */
export interface Provider {
  readonly name: string
  readonly kind: string
  readonly variable: string | undefined
  readonly address: string | undefined
  readonly version: string | undefined
  readonly models: Model[]
}

/** A model to write. */
export interface Model {
  readonly id: string
  /** The name in LiteLLM, which several models may have. */
  readonly name: string
  readonly upstreamId: string
  readonly entry: Entry
}

/** Writes a table; nothing when it has no keys. */
export function writeTable(name: string, keys: Readonly<Record<string, unknown>>): string {
  const text = writeKeys(keys)
  return text === '' ? '' : `\n[${name}]\n${text}`
}

/** Writes a provider with its models; `fallbacks` returns those of a model. */
export function writeProvider(
  provider: Provider,
  fallbacks: (id: string) => readonly string[],
): string {
  const { name, kind, variable, address, version, models } = provider
  return `
[[providers]]
${writeKeys({ name, kind, api_key_env: variable, base_url: address, api_version: version })}
${models.map((model) => `\n[[providers.models]]\n${writeKeys(toModel(model, fallbacks(model.id)))}`).join('\n')}`
}

const capabilityByMode: Readonly<Record<string, string>> = {
  embedding: 'embed',
  rerank: 'rerank',
  decisions: 'decisions',
  evaluation: 'decisions',
}

/** Returns the capability of a model; undefined for chat. */
export function findCapability({ entry }: Model): string | undefined {
  return capabilityByMode[entry.model_info?.mode ?? '']
}

/** Whether the file has a price for the prompts of a model. */
export function hasPrices({ entry }: Model): boolean {
  return (readPrices(entry).input ?? 0) > 0
}

function readPrices({ litellm_params: params, model_info: info }: Entry) {
  return {
    input: params.input_cost_per_token ?? info?.input_cost_per_token ?? undefined,
    output: params.output_cost_per_token ?? info?.output_cost_per_token ?? undefined,
  }
}

function toModel(model: Model, fallbacks: readonly string[]) {
  const { id, upstreamId, entry } = model
  const { model_info: info } = entry
  const capability = findCapability(model)
  const { input, output } = readPrices(entry)
  return {
    id,
    upstream_id: upstreamId === id ? undefined : upstreamId,
    capabilities: capability && [capability],
    modalities: info?.supports_vision ? ['text', 'image'] : undefined,
    max_output_tokens: info?.max_output_tokens ?? undefined,
    cost_per_1m_input: toMillion(input),
    cost_per_1m_output: toMillion(output),
    fallbacks: fallbacks.length > 0 ? fallbacks : undefined,
  }
}

/** Rounds away the noise of binary fractions. */
function toMillion(usd: number | undefined): number | undefined {
  return usd === undefined ? undefined : Number((usd * 1_000_000).toPrecision(12))
}

/** A model among those of one name. */
export interface WeightedTarget {
  readonly model: string
  readonly weight: number | undefined
}

interface RouteEntry {
  readonly id: string
  readonly strategy: RouteStrategy
  readonly targets: readonly WeightedTarget[]
  readonly fallbacks: readonly string[]
}

/** Writes a route that chooses one of the models for each request. */
export function writeRoute({ id, strategy, targets, fallbacks }: RouteEntry): string {
  const list = targets.map(({ model, weight }) => {
    const share = weight === undefined ? '' : `, weight = ${weight}`
    return `{ model = ${toToml(model)}${share} }`
  })
  const more = fallbacks.length > 0 ? `\nfallbacks = ${toToml(fallbacks)}` : ''
  return `\n[[routes]]\n${writeKeys({ id, strategy })}\ntargets = [${list.join(', ')}]${more}`
}

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
