import type { PriceSettings } from '../../adapters/node/prices/settings.ts'
import type { Sheet } from '../../adapters/node/prices/sheet.ts'
import type { Model } from '../../src/core/provider.ts'
import { createPriceTable, priceAnswer, toBasePrices } from '../../src/pricing/index.ts'
import { draw, pick } from './random.ts'

/** A request and its answer, as far as its price depends on them. */
export interface DrawnUsage {
  readonly prompt: number
  readonly output: number
  readonly cached: number
  readonly written: number
  readonly written1h: number
  readonly written12h: number
  readonly reasoning: number
  /** Of the prompt tokens that are neither cached nor written. */
  readonly audio: number
  readonly image: number
  readonly video: number
  /** Of the cached tokens. */
  readonly cachedAudio: number
  /** Of the output that is not reasoning. */
  readonly audioOutput: number
  readonly imageOutput: number
  readonly webSearches: number
  readonly fileSearches: number
  readonly tier: string
  readonly geo: string
  /** On the wall clock, in milliseconds. */
  readonly at: number
}

const dayLength = 86_400_000

/** Draws a usage; one prompt of four is at a step, or one token above it. */
export function drawUsage(random: () => number, sheet: Sheet, day: string): DrawnUsage {
  const steps = sheet.steps.map(({ above }) => above)
  const longest = 10 ** (1 + random() * 5.2)
  const prompt =
    steps.length > 0 && random() < 0.25
      ? pick(random, [0, ...steps]) + draw(random, 1)
      : draw(random, longest)
  const names = Object.keys({ ...sheet.base })
  const has = (name: string) => names.includes(name)
  const written = has('cost_per_1m_cache_write') ? draw(random, prompt) : 0
  const written1h = has('cost_per_1m_cache_write_1h') ? draw(random, written) : 0
  const written12h = has('cost_per_1m_cache_write_12h') ? draw(random, written - written1h) : 0
  const output = draw(random, 50_000)
  const cached = draw(random, prompt - written)
  const uncached = prompt - written - cached
  const reasoning = draw(random, output)
  const drawOf = (name: string, most: number) => (has(name) ? draw(random, most) : 0)
  const audio = drawOf('cost_per_1m_audio_input', uncached)
  const image = drawOf('cost_per_1m_image_input', uncached - audio)
  const audioOutput = drawOf('cost_per_1m_audio_output', output - reasoning)
  const tools = sheet.fees.tool_costs_per_1k
  const tiers = [...sheet.tiers, ...sheet.factors].flatMap(({ tier }) => tier ?? [])
  const geos = sheet.factors.flatMap(({ geo }) => geo ?? [])
  return {
    prompt,
    output,
    cached,
    written,
    written1h,
    written12h,
    reasoning,
    audio,
    image,
    video: drawOf('cost_per_1m_video_input', uncached - audio - image),
    cachedAudio: drawOf('cost_per_1m_cached_audio_input', cached),
    audioOutput,
    imageOutput: drawOf('cost_per_1m_image_output', output - reasoning - audioOutput),
    webSearches: tools?.web_search === undefined ? 0 : draw(random, 3),
    fileSearches: tools?.file_search === undefined ? 0 : draw(random, 3),
    tier: pick(random, ['standard', ...tiers]),
    geo: pick(random, ['global', ...geos]),
    at: Date.parse(day) + Math.floor(random() * 400 * dayLength),
  }
}

/** Prices usages as the gateway does for a model with these settings, in nano-dollars. */
export function createPricer(settings: PriceSettings): (usage: DrawnUsage) => bigint {
  const options = { base: settings, multiplier: undefined, totalTimeout: 0 } as const
  const model = {
    prices: toBasePrices(settings, undefined),
    priceTable: createPriceTable({
      ...options,
      entries: settings.prices ?? [],
      autoTiers: ['standard'],
      autoGeos: ['global'],
    }),
  } as Model // Only these members are read for an answer of one call.
  return ({ prompt, output, tier, geo, at, webSearches, fileSearches, ...own }) =>
    priceAnswer(model, {
      searchUnits: undefined,
      ask: undefined,
      sentAt: at,
      usage: {
        promptTokens: prompt,
        completionTokens: output,
        totalTokens: prompt + output,
        cachedTokens: own.cached,
        cacheWriteTokens: own.written,
        cacheWrite1hTokens: own.written1h,
        cacheWrite12hTokens: own.written12h,
        reasoningTokens: own.reasoning,
        webSearches,
        billing: {
          tier,
          geo,
          toolCalls: { file_search: fileSearches },
          modalities: {
            audioInput: own.audio + own.cachedAudio,
            cachedAudioInput: own.cachedAudio,
            imageInput: own.image,
            videoInput: own.video,
            audioOutput: own.audioOutput,
            imageOutput: own.imageOutput,
          },
        },
        estimated: false,
      },
    }).cost
}
