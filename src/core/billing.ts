import type { NanoUsd } from './ids.ts'

/*
 * What an answer says of its bill, besides the counts of its tokens.
 */

/** The tools that vendors run themselves and bill by the call. */
export const vendorTools = [
  'web_search',
  'web_fetch',
  'file_search',
  'code_execution',
  'maps',
  'x_search',
  'collections_search',
  'attachment_search',
] as const
export type BilledTool = (typeof vendorTools)[number]

/** How often a vendor ran its tools for an answer. */
export type ToolCalls = Readonly<Partial<Record<BilledTool, number>>>

/** The tokens of an answer that are not text. They are among those of the prompt and of the completion. */
export interface ModalityTokens {
  readonly audioInput?: number | undefined
  readonly cachedAudioInput?: number | undefined
  readonly imageInput?: number | undefined
  readonly videoInput?: number | undefined
  readonly audioOutput?: number | undefined
  readonly imageOutput?: number | undefined
}

/** The counts of one call of a model, as `Usage` has them. */
export interface UsageRun {
  /** The vendor's name of the model, where it is not the one that was asked for. */
  readonly model?: string | undefined
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cachedTokens?: number | undefined
  readonly cacheWriteTokens?: number | undefined
  readonly cacheWrite1hTokens?: number | undefined
}

/** The facts of a bill. A member that the vendor does not state is absent. */
export interface BillingFacts {
  /** The service tier that served, as `readTier` normalises it. */
  readonly tier?: string | undefined
  /** The region that served, where the vendor prices by it. */
  readonly geo?: string | undefined
  readonly modalities?: ModalityTokens | undefined
  /** All but searches of the web, which `Usage` counts itself. */
  readonly toolCalls?: ToolCalls | undefined
  /** What the vendor charges, by its own word. */
  readonly statedCost?: NanoUsd | undefined
  /** The calls that are priced one by one, in place of the counts of the answer. */
  readonly runs?: readonly UsageRun[] | undefined
}

/** Reads what the vendor charges from a whole answer, or from the event of a stream that has the usage. */
export type StatedCostReader = (answer: Readonly<Record<string, unknown>>) => NanoUsd | undefined

/** Returns the facts without absent members; undefined when there are none. */
export function collectFacts(facts: BillingFacts): BillingFacts | undefined {
  const { tier, geo, modalities, toolCalls, statedCost, runs } = facts
  const isEmpty =
    tier === undefined &&
    geo === undefined &&
    modalities === undefined &&
    toolCalls === undefined &&
    statedCost === undefined &&
    runs === undefined
  return isEmpty ? undefined : facts
}

/** Returns the facts that hold although the gateway has estimated the tokens. */
export function keepUncounted(facts: BillingFacts | undefined): BillingFacts | undefined {
  return facts && collectFacts({ ...facts, modalities: undefined, runs: undefined })
}

/**
 * Reads the name of a service tier in a request or an answer. The names of the default tier are `standard`, and
 * those that Vertex AI gives to on-demand traffic lose their prefix. Undefined for `auto`, for what Google calls `unspecified`,
 * and for a value that is not a name.
 */
export function readTier(value: unknown): string | undefined {
  const name = readName(value)
  if (name === undefined || name === 'auto' || name.endsWith('unspecified')) return undefined
  if (standardTiers.has(name)) return 'standard'
  return name.startsWith(onDemand) ? name.slice(onDemand.length) : name
}

/**
 * `standard_only`: a request of the Messages API. `on_demand`: Groq and Vertex AI.
 * https://platform.claude.com/docs/en/api/service-tiers
 * https://console.groq.com/docs/service-tiers
 */
const standardTiers: ReadonlySet<string> = new Set([
  'default',
  'standard',
  'standard_only',
  'on_demand',
])

/** https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/GenerateContentResponse#traffictype */
const onDemand = 'on_demand_'

/** Returns the name of a tier in the APIs of OpenAI, whose standard tier is `default`. */
export function toOpenAiTier(tier: string): string {
  return tier === 'standard' ? 'default' : tier
}

/** Reads the name of a region. */
export function readGeo(value: unknown): string | undefined {
  return readName(value)
}

/** The values come from upstreams and clients, and end in rows and headers. */
function readName(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const name = value.toLowerCase()
  return /^[a-z\d][a-z\d_.-]{0,39}$/.test(name) ? name : undefined
}
