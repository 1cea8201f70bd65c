import type { UsageEstimate } from '../core/admission.ts'
import { type BilledTool, type ToolCalls, vendorTools } from '../core/billing.ts'
import type { NanoUsd } from '../core/ids.ts'
import type { CacheLife } from '../core/layout.ts'
import {
  type AskedTools,
  anyModalities,
  type InputModality,
  type OutputModality,
  type PriceAsk,
  type ResolvedPrices,
} from '../core/price-table.ts'
import { hasModalityPrice, type Prices } from '../core/prices.ts'
import type { Model } from '../core/provider.ts'
import type { ProviderKind } from '../core/provider-kind.ts'
import type { ModelRoute } from '../core/route.ts'
import {
  millionthsPerNano,
  multiply,
  multiplyRequest,
  multiplySearches,
  multiplyTools,
} from './cost.ts'

/** Estimates the tokens that a request uses at most: the debit of its TPM limit. */
export function estimateMaxTokens(
  chain: ModelRoute['chain'],
  { promptTokens, output }: UsageEstimate,
): number {
  if (!output) return promptTokens
  return promptTokens + Math.max(...chain.map((link) => output(link).maxTokens))
}

/**
 * Estimates what a request costs at most, at the prices of the most expensive link of its chain,
 * rounded up. `reserveOutputTokens` applies where neither the request nor the link bounds the output.
 */
export function estimateMaxCost(
  chain: ModelRoute['chain'],
  estimate: UsageEstimate,
  reserveOutputTokens: number,
): NanoUsd {
  const maxCost = chain
    .map((link) => estimateMaxLinkCost(link, estimate, reserveOutputTokens))
    .reduce((a, b) => (b > a ? b : a))
  return ((maxCost + millionthsPerNano - 1n) / millionthsPerNano) as NanoUsd
}

/** Estimates what a request costs at most on one link, in millionths of a nano-dollar. */
export function estimateMaxLinkCost(
  link: Model,
  estimate: UsageEstimate,
  reserveOutputTokens: number,
): bigint {
  return findDearest(link, estimate, reserveOutputTokens).cost
}

/** The most that a request costs on a link, and the prices at which it does. */
export interface DearestPrices {
  /** In millionths of a nano-dollar. */
  readonly cost: bigint
  /** The dearest of the prices that the prompt can have. */
  readonly promptPrice: PromptPrice
  /** The entries that make the request dearest, in ASCII; undefined for the base. */
  readonly label: string | undefined
  /** The tools that the vendor may run. */
  readonly tools: readonly ReservedTool[]
}

/** The calls of a tool of the vendor that are reserved. */
export interface ReservedTool {
  readonly name: BilledTool
  readonly calls: number
  /** The request says how many calls there are at most. */
  readonly isBounded: boolean
}

/**
 * Finds the most that a request costs on a link. A vendor may run a model several times for one answer, each time
 * at prices of its own, so the dearest prompt, output and fees count, also when they are of different entries.
 */
export function findDearest(
  link: Model,
  estimate: UsageEstimate,
  reserveOutputTokens: number,
): DearestPrices {
  const { tools, parts } = findReachable(link, estimate, reserveOutputTokens)
  const [first] = parts
  if (parts.length === 1 && first) {
    const { label, promptPrice, prompt, output: generated, fees } = first
    return { cost: prompt + generated + fees, promptPrice, label, tools }
  }
  const dearest = findLargest(parts, ({ prompt, output, fees }) => prompt + output + fees)
  return {
    cost:
      findLargest(parts, ({ prompt }) => prompt).prompt +
      findLargest(parts, ({ output }) => output).output +
      findLargest(parts, ({ fees }) => fees).fees,
    promptPrice: dearest.promptPrice,
    label: dearest.label,
    tools,
  }
}

/** What a request costs at most at one of the prices that it can reach, in millionths of a nano-dollar. */
export interface ReachableParts extends ResolvedPrices {
  readonly promptPrice: PromptPrice
  readonly prompt: bigint
  readonly output: bigint
  readonly fees: bigint
}

/** All that a request can reach on a link. */
export interface Reachable {
  readonly promptTokens: number
  readonly output: ReturnType<typeof estimateMaxOutput>
  readonly tools: readonly ReservedTool[]
  readonly parts: readonly ReachableParts[]
}

/** Lists what a request costs at most at each of the prices that it can reach on a link. */
export function findReachable(
  link: Model,
  estimate: UsageEstimate,
  reserveOutputTokens: number,
): Reachable {
  const output = estimateMaxOutput(link, estimate, reserveOutputTokens)
  const tools = listReachableTools(link, estimate, output.choices)
  const promptTokens =
    estimateMaxPrompt(link, estimate) + countCalls(tools) * (link.toolReserve?.tokens ?? 0)
  const calls = toCalls(tools)
  const parts = listReachablePrices(link, promptTokens, estimate).map(({ prices, label }) => {
    const promptPrice = findPromptPrice(prices, link, estimate)
    const { price: outputPrice } = findOutputPrice(prices, estimate)
    return {
      prices,
      label,
      promptPrice,
      prompt: multiply(promptTokens, prices[promptPrice] ?? prices.cacheWrite),
      output: multiply(output.tokens, outputPrice) * BigInt(output.choices),
      fees:
        multiplySearches(estimate.searchUnits, prices) +
        multiplyRequest(prices) +
        (prices.tools ? multiplyTools(calls, prices.tools) : 0n),
    }
  })
  return { promptTokens, output, tools, parts }
}

export function toCalls(tools: readonly ReservedTool[]): ToolCalls {
  return tools === noTools
    ? noCalls
    : Object.fromEntries(tools.map((tool) => [tool.name, tool.calls]))
}

/** Returns the first of the largest ones. */
export function findLargest(
  parts: readonly ReachableParts[],
  measure: (part: ReachableParts) => bigint,
): ReachableParts {
  return parts.reduce((most, part) => (measure(part) > measure(most) ? part : most))
}

function listReachablePrices(
  { prices, priceTable }: Model,
  promptTokens: number,
  { ask = unknownAsk }: UsageEstimate,
): readonly ResolvedPrices[] {
  return priceTable?.listReachable(promptTokens, ask) ?? [{ prices, label: undefined }]
}

const unknownAsk: PriceAsk = Object.freeze({
  tier: undefined,
  geo: undefined,
  at: 0,
  hasStoredPrompt: false,
  mayCacheLong: true,
  modalities: anyModalities,
  tools: new Map(vendorTools.map((tool) => [tool, { calls: 0, isBounded: false }])),
})

const outputPrices = { audio: 'audioOutput', image: 'imageOutput' } as const

/** The names of the prices that a generated token may have. */
export type OutputPrice = 'output' | 'reasoning' | (typeof outputPrices)[OutputModality]

interface NamedPrice {
  readonly name: OutputPrice
  readonly price: NanoUsd
}

/** Finds the dearest of the prices that the output of a request can have. */
export function findOutputPrice(prices: Prices, { ask = unknownAsk }: UsageEstimate): NamedPrice {
  const { output, reasoning = output } = prices
  let name: OutputPrice = reasoning > output ? 'reasoning' : 'output'
  let price = reasoning > output ? reasoning : output
  if (!hasModalityPrice(prices)) return { name, price }
  for (const modality of ask.modalities.output) {
    const own = prices[outputPrices[modality]]
    if (own === undefined || own <= price) continue
    name = outputPrices[modality]
    price = own
  }
  return { name, price }
}

/** The vendor may run its tools for each choice. */
function listReachableTools(
  { toolReserve }: Model,
  { ask = unknownAsk }: UsageEstimate,
  choices: number,
): readonly ReservedTool[] {
  if (!toolReserve) return noTools
  const asked =
    ask.hasStoredPrompt && toolReserve.ofStored.length > 0
      ? addStored(ask.tools, toolReserve.ofStored)
      : ask.tools
  if (asked.size === 0) return noTools
  return [...asked].map(([name, { calls, isBounded }]) => ({
    name,
    calls: (isBounded ? calls : Math.max(calls, toolReserve.calls)) * choices,
    isBounded,
  }))
}

/** Nothing bounds the tools of a stored conversation. */
function addStored(tools: AskedTools, stored: readonly BilledTool[]): AskedTools {
  const all = new Map(tools)
  for (const name of stored) all.set(name, { calls: tools.get(name)?.calls ?? 0, isBounded: false })
  return all
}

const noTools: readonly ReservedTool[] = Object.freeze([])
const noCalls: ToolCalls = Object.freeze({})

function countCalls(tools: readonly ReservedTool[]): number {
  return tools.reduce((sum, { calls }) => sum + calls, 0)
}

/** A prompt that the body does not show counts as the longest that the model takes, where that is known. */
function estimateMaxPrompt(
  { maxInputTokens = 0 }: Model,
  { promptTokens, ask }: UsageEstimate,
): number {
  return ask?.hasStoredPrompt ? Math.max(promptTokens, maxInputTokens) : promptTokens
}

type ShortPromptPrice = keyof Pick<Prices, 'input' | 'cachedInput' | 'cacheWrite' | 'cacheWrite1h'>

/** The names of the prices that a token of a prompt may have. */
export type PromptPrice =
  | ShortPromptPrice
  | 'cacheWrite12h'
  | 'audioInput'
  | 'imageInput'
  | 'videoInput'
  | 'cachedAudioInput'

/** Finds the dearest of the prices that the prompt of a request can have. */
function findPromptPrice(
  prices: Prices,
  { provider: { kind }, cacheMarker }: Model,
  { cacheLife: given, ask = unknownAsk }: UsageEstimate,
): PromptPrice {
  // A request without a mark gets those of the gateway.
  const cacheLife = cacheMarker && given === 'none' ? '5m' : given
  const reachable = cacheLife === undefined ? neverCached : listReachable(cacheLife, kind)
  const dearest = reachable.reduce((most, name) => (prices[name] > prices[most] ? name : most))
  // Only vendors that write by themselves do so for twelve hours.
  const mayCacheLong = cacheLife !== undefined && kind.writesCache === undefined && ask.mayCacheLong
  const { cacheWrite12h: perLongWrite } = prices
  const ofText =
    mayCacheLong && perLongWrite !== undefined && perLongWrite > prices[dearest]
      ? 'cacheWrite12h'
      : dearest
  if (!hasModalityPrice(prices)) return ofText
  return listModalityPrices(ask, cacheLife !== undefined).reduce<PromptPrice>((most, name) => {
    const price = prices[name]
    return price !== undefined && price > (prices[most] ?? 0n) ? name : most
  }, ofText)
}

/** A prompt that the vendor has stored may have every modality. */
function listModalityPrices(
  { modalities, hasStoredPrompt }: PriceAsk,
  mayRead: boolean,
): readonly PromptPrice[] {
  const { input } = hasStoredPrompt ? anyModalities : modalities
  if (input.size === 0) return noPrices
  return [...input].flatMap((modality) =>
    mayRead ? modalityPrices[modality] : modalityPrices[modality].slice(0, 1),
  )
}

const noPrices: readonly PromptPrice[] = Object.freeze([])
/** The first is that of tokens which are not read from a cache. */
const modalityPrices: Readonly<Record<InputModality, readonly PromptPrice[]>> = Object.freeze({
  audio: Object.freeze(['audioInput', 'cachedAudioInput'] as const),
  image: Object.freeze(['imageInput'] as const),
  video: Object.freeze(['videoInput'] as const),
})

/** Any vendor may read what it has cached before: by another request, with or without a mark in this one. */
function listReachable(
  life: CacheLife,
  { writesCache }: ProviderKind,
): readonly ShortPromptPrice[] {
  switch (writesCache) {
    case 'never':
      return onlyRead
    case 'when-marked':
      return life === 'none' ? onlyRead : written[life]
    case undefined:
      return written[life === 'none' ? '5m' : life]
    default:
      return writesCache satisfies never
  }
}

const neverCached = Object.freeze(['input'] as const)
const onlyRead = Object.freeze(['input', 'cachedInput'] as const)

/** By the longest life of a mark. A vendor may write for a shorter time than it was asked to. */
const written = Object.freeze({
  '5m': Object.freeze(['input', 'cachedInput', 'cacheWrite'] as const),
  '1h': Object.freeze(['input', 'cachedInput', 'cacheWrite', 'cacheWrite1h'] as const),
})

/** Estimates the output of a link at most: the tokens of one choice, and how many choices there are. */
export function estimateMaxOutput(
  link: Model,
  { output }: UsageEstimate,
  reserveOutputTokens: number,
): { readonly tokens: number; readonly choices: number } {
  if (!output) return nothing
  const { maxTokens, isBounded, choices } = output(link)
  const { maxOutputTokens = reserveOutputTokens } = link
  return { tokens: isBounded ? maxTokens : Math.max(maxTokens, maxOutputTokens), choices }
}

const nothing = Object.freeze({ tokens: 0, choices: 0 })
