import { type BilledTool, vendorTools } from '../core/billing.ts'
import type { NanoUsd } from '../core/ids.ts'
import { toNanoUsd } from '../core/money.ts'
import type { Prices, ToolPrices } from '../core/prices.ts'
import type { Model } from '../core/provider.ts'
import { type Factor, multiplyPrice, one } from './factor.ts'

/** The prices of a thousand calls of the tools that a vendor runs, in US dollars. */
export type ConfiguredTools = Readonly<Partial<Record<BilledTool, number | undefined>>>

/** The prices of a model in US dollars, as its configuration entry has them. */
export interface ConfiguredPrices {
  readonly cost_per_1m_input?: number | undefined
  readonly cost_per_1m_output?: number | undefined
  /** The price of output by default. */
  readonly cost_per_1m_reasoning?: number | undefined
  /** The price of input by default. */
  readonly cost_per_1m_cached_input?: number | undefined
  /** The price of input by default. */
  readonly cost_per_1m_cache_write?: number | undefined
  /** The price of a cache write by default. */
  readonly cost_per_1m_cache_write_1h?: number | undefined
  /** The price of a cache write by default. */
  readonly cost_per_1m_cache_write_12h?: number | undefined
  /** The price of input by default. */
  readonly cost_per_1m_audio_input?: number | undefined
  /** The price of input by default. */
  readonly cost_per_1m_image_input?: number | undefined
  /** The price of input by default. */
  readonly cost_per_1m_video_input?: number | undefined
  /** The price of cached input by default. */
  readonly cost_per_1m_cached_audio_input?: number | undefined
  /** The price of output by default. */
  readonly cost_per_1m_audio_output?: number | undefined
  /** The price of output by default. */
  readonly cost_per_1m_image_output?: number | undefined
  readonly cost_per_1k_searches?: number | undefined
  readonly cost_per_1k_web_searches?: number | undefined
  readonly cost_per_1k_requests?: number | undefined
  readonly tool_costs_per_1k?: ConfiguredTools | undefined
}

/**
 * Converts configured prices to nano-dollars. A price that is not configured is 0, or its default. The factor
 * applies to the prices of tokens, before the defaults, and not to fees.
 */
export function toPrices(configured: ConfiguredPrices, factor: Factor = one): Prices {
  const ofTokens = (usd: number | undefined, byDefault: NanoUsd) =>
    usd === undefined ? byDefault : multiplyPrice(toNanoUsd(usd), factor)
  const input = ofTokens(configured.cost_per_1m_input, free)
  const output = ofTokens(configured.cost_per_1m_output, free)
  const tools = readToolCosts(configured)
  const cacheWrite = ofTokens(configured.cost_per_1m_cache_write, input)
  return {
    input,
    output,
    cachedInput: ofTokens(configured.cost_per_1m_cached_input, input),
    cacheWrite,
    cacheWrite1h: ofTokens(configured.cost_per_1m_cache_write_1h, cacheWrite),
    ...(configured.cost_per_1m_cache_write_12h !== undefined && {
      cacheWrite12h: ofTokens(configured.cost_per_1m_cache_write_12h, cacheWrite),
    }),
    ...(configured.cost_per_1m_reasoning !== undefined && {
      reasoning: ofTokens(configured.cost_per_1m_reasoning, output),
    }),
    ...toModalityPrices(configured, factor),
    searches: toFee(configured.cost_per_1k_searches) ?? free,
    ...(tools && { tools: toToolPrices(tools) }),
    ...(configured.cost_per_1k_requests !== undefined && {
      requests: toNanoUsd(configured.cost_per_1k_requests),
    }),
  }
}

const modalitySettings = {
  audioInput: 'cost_per_1m_audio_input',
  imageInput: 'cost_per_1m_image_input',
  videoInput: 'cost_per_1m_video_input',
  cachedAudioInput: 'cost_per_1m_cached_audio_input',
  audioOutput: 'cost_per_1m_audio_output',
  imageOutput: 'cost_per_1m_image_output',
} as const

/** Only those that are configured: the others follow the prices that they default to. */
function toModalityPrices(configured: ConfiguredPrices, factor: Factor): ModalityPrices {
  const prices = Object.entries(modalitySettings).flatMap(([name, setting]) => {
    const usd = configured[setting]
    return usd === undefined ? [] : [[name, multiplyPrice(toNanoUsd(usd), factor)] as const]
  })
  return Object.fromEntries(prices)
}

type ModalityPrices = Pick<Prices, keyof typeof modalitySettings>

/** `cost_per_1k_web_searches` is another name of the price of `web_search`. */
export function readToolCosts({
  cost_per_1k_web_searches: perSearch,
  tool_costs_per_1k: tools,
}: ConfiguredPrices): ConfiguredTools | undefined {
  return perSearch === undefined ? tools : { web_search: perSearch, ...tools }
}

function toToolPrices(tools: ConfiguredTools): ToolPrices {
  return Object.fromEntries(vendorTools.map((tool) => [tool, toFee(tools[tool]) ?? free]))
}

/** True when anything that a model does costs more than 0. */
export function isPriced({ prices, priceTable }: Pick<Model, 'prices' | 'priceTable'>): boolean {
  if (priceTable) return true
  const { tools = {}, ...others } = prices
  return [...Object.values(others), ...Object.values(tools)].some((price) => price > 0n)
}

const free = 0n as NanoUsd

function toFee(usd: number | undefined): NanoUsd | undefined {
  return usd === undefined ? undefined : toNanoUsd(usd)
}
