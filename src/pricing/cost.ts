import type { TokenCounts } from '../core/bill.ts'
import { type BilledTool, type ModalityTokens, vendorTools } from '../core/billing.ts'
import type { NanoUsd } from '../core/ids.ts'
import { hasModalityPrice, type Prices, type ToolPrices } from '../core/prices.ts'
import type { Usage } from '../core/usage.ts'

/*
 * Prices are for a million tokens, or for a thousand searches. Amounts are summed in millionths of a
 * nano-dollar and divided once, at the end, so that nothing is rounded twice. All are bigints, because
 * a count times a price may exceed the safe integers.
 */
export const millionthsPerNano = 1_000_000n
const perThousand = 1_000n

/**
 * Calculates what an answer costs, rounded half up. `promptTokens` includes the cached tokens and the
 * tokens written to a cache, which may be the same ones: each token of the prompt is charged once, and one that
 * was both written and read as written.
 */
export function calculateCost(
  prices: Prices,
  usage: Usage,
  searchUnits: number | undefined,
): NanoUsd {
  return roundCost(sumTokens(prices, toCounts(usage)) + sumFees(prices, usage, searchUnits))
}

/** Rounds millionths half up to nano-dollars. */
export function roundCost(sum: bigint): NanoUsd {
  return ((sum + millionthsPerNano / 2n) / millionthsPerNano) as NanoUsd
}

/** The kinds of tokens that have prices of their own. */
export const tokenKinds = [
  'input',
  'audio_input',
  'image_input',
  'video_input',
  'cached',
  'cached_audio_input',
  'written',
  'written_1h',
  'written_12h',
  'output',
  'audio_output',
  'image_output',
  'reasoning',
] as const
export type TokenKind = (typeof tokenKinds)[number]

/** Calls `visit` for the tokens of one call by their prices. Each token is in one kind. */
export function visitTokens(
  prices: Prices,
  usage: TokenCounts,
  visit: (kind: TokenKind, count: number, price: NanoUsd) => void,
): void {
  const written = Math.min(usage.promptTokens, usage.cacheWriteTokens ?? 0)
  const cached = Math.min(usage.promptTokens - written, usage.cachedTokens ?? 0)
  const writtenFor1h = Math.min(written, usage.cacheWrite1hTokens ?? 0)
  const writtenFor12h = Math.min(written - writtenFor1h, usage.cacheWrite12hTokens ?? 0)
  const { cacheWrite12h: perLongWrite = prices.cacheWrite } = prices
  const { reasoning: perReasoning = prices.output } = prices
  const reasoning = Math.min(usage.completionTokens, usage.reasoningTokens ?? 0)
  const uncached = usage.promptTokens - written - cached
  const text = usage.completionTokens - reasoning
  visit('written', written - writtenFor1h - writtenFor12h, prices.cacheWrite)
  visit('written_12h', writtenFor12h, perLongWrite)
  visit('written_1h', writtenFor1h, prices.cacheWrite1h)
  visit('reasoning', reasoning, perReasoning)
  if (usage.modalities && hasModalityPrice(prices)) {
    visitModalities(prices, usage.modalities, { uncached, cached, text }, visit)
    return
  }
  visit('input', uncached, prices.input)
  visit('cached', cached, prices.cachedInput)
  visit('output', text, prices.output)
}

/** The tokens of a call that are neither written nor reasoning. */
interface PlainTokens {
  readonly uncached: number
  readonly cached: number
  readonly text: number
}

/**
 * Visits the tokens of other modalities, and what is left of the plain ones. Not more tokens than a call has are charged
 * so: which of them a vendor has cached, it says for audio alone.
 */
function visitModalities(
  prices: Prices,
  modalities: ModalityTokens,
  { uncached, cached, text }: PlainTokens,
  visit: (kind: TokenKind, count: number, price: NanoUsd) => void,
): void {
  const { audioInput = 0, cachedAudioInput = 0, imageInput = 0, videoInput = 0 } = modalities
  const { audioOutput = 0, imageOutput = 0 } = modalities
  const cachedAudio = Math.min(cached, cachedAudioInput)
  const audio = Math.min(uncached, Math.max(0, audioInput - cachedAudioInput))
  const image = Math.min(uncached - audio, imageInput)
  const video = Math.min(uncached - audio - image, videoInput)
  const spoken = Math.min(text, audioOutput)
  const drawn = Math.min(text - spoken, imageOutput)
  visit('input', uncached - audio - image - video, prices.input)
  visit('audio_input', audio, prices.audioInput ?? prices.input)
  visit('image_input', image, prices.imageInput ?? prices.input)
  visit('video_input', video, prices.videoInput ?? prices.input)
  visit('cached', cached - cachedAudio, prices.cachedInput)
  visit('cached_audio_input', cachedAudio, prices.cachedAudioInput ?? prices.cachedInput)
  visit('output', text - spoken - drawn, prices.output)
  visit('audio_output', spoken, prices.audioOutput ?? prices.output)
  visit('image_output', drawn, prices.imageOutput ?? prices.output)
}

/** Returns the counts of an answer that is one call. */
export function toCounts(usage: Usage): TokenCounts {
  const modalities = usage.billing?.modalities
  return modalities ? { ...usage, modalities } : usage
}

/** Prices the tokens of one call, in millionths. */
export function sumTokens(prices: Prices, usage: TokenCounts): bigint {
  let sum = 0n
  visitTokens(prices, usage, (_, count, price) => {
    // Most counts are 0.
    if (count !== 0) sum += multiply(count, price)
  })
  return sum
}

/** Prices what is not a token, in millionths. */
export function sumFees(
  prices: Prices,
  { webSearches, billing }: Usage,
  searchUnits: number | undefined,
): bigint {
  return (
    multiplySearches(searchUnits, prices) +
    (prices.tools
      ? multiplyTools({ web_search: webSearches, ...billing?.toolCalls }, prices.tools)
      : 0n) +
    multiplyRequest(prices)
  )
}

/** The price of the calls of a vendor's tools, in millionths of a nano-dollar. */
export function multiplyTools(
  calls: Readonly<Partial<Record<BilledTool, number | undefined>>>,
  tools: ToolPrices,
): bigint {
  return vendorTools.reduce(
    (sum, tool) => sum + multiply(calls[tool] ?? 0, tools[tool] ?? 0n) * perThousand,
    0n,
  )
}

/** Multiplies a count by a price. Most counts and many prices are zero, which needs no bigint. */
export function multiply(count: number, price: bigint): bigint {
  return count === 0 || price === 0n ? 0n : BigInt(count) * price
}

/** The price of search units, in millionths of a nano-dollar. */
export function multiplySearches(searchUnits: number | undefined, { searches }: Prices): bigint {
  return multiply(searchUnits ?? 0, searches) * perThousand
}

/** The price of one request, in millionths of a nano-dollar. */
export function multiplyRequest({ requests }: Prices): bigint {
  return requests === undefined ? 0n : requests * perThousand
}
