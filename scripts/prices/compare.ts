// Prices random usages of every entry of the catalogues that has steps, tiers, windows, dates or prices by modality, by
// the gateway and by the catalogue's own package: `npm run prices:compare`. Equal to the nano-dollar, or listed with the reason.
import { execFileSync } from 'node:child_process'
import { genaiPrices, readGenaiPrices } from '../../adapters/node/prices/genai-prices.ts'
import { litellmEntry, readLiteLlm } from '../../adapters/node/prices/litellm.ts'
import { tokenPrices } from '../../adapters/node/prices/settings.ts'
import type { Sheet } from '../../adapters/node/prices/sheet.ts'
import { toSettings } from '../../adapters/node/prices/to-settings.ts'
import { readCatalogues } from './catalogues.ts'
import { createRandom } from './random.ts'
import { createPricer, type DrawnUsage, drawUsage } from './usages.ts'

const usagesPerEntry = 20
const seed = 20_261_128
const random = createRandom(seed)
const day = new Date().toISOString().slice(0, 'YYYY-MM-DD'.length)
const catalogues = readCatalogues()

/** One usage of an entry. */
interface Case {
  readonly name: string
  readonly sheet: Sheet
  readonly usage: DrawnUsage
  /** What the gateway charges, in nano-dollars. */
  readonly own: bigint
  /** The usage as the package wants it. */
  readonly given: object
}

function drawCases(name: string, sheet: Sheet, toGiven: (usage: DrawnUsage) => object): Case[] {
  const price = createPricer(toSettings(sheet))
  return Array.from({ length: usagesPerEntry }, () => {
    const usage = drawUsage(random, sheet, day)
    return { name, sheet, usage, own: price(usage), given: toGiven(usage) }
  })
}

const modalityPrices = tokenPrices.filter((name) => /audio|image|video/.test(name))

function hasConditions({ base, steps, tiers, factors, windows, later }: Sheet): boolean {
  return (
    [steps, tiers, factors, windows, later].some(({ length }) => length > 0) ||
    modalityPrices.some((name) => name in base)
  )
}

const genai = genaiPrices.parse(catalogues.genaiPrices).flatMap(({ id: provider, models }) =>
  models.flatMap((model) => {
    const sheet = readGenaiPrices(model, day)
    if (!hasConditions(sheet)) return []
    return drawCases(`${provider} ${model.id}`, sheet, (usage) => ({
      provider,
      model: model.id,
      at: usage.at,
      context: toContext(usage.tier, model.price_variants?.map(({ when }) => when) ?? []),
      usage: {
        input_tokens: usage.prompt,
        output_tokens: usage.output,
        cache_read_tokens: usage.cached,
        cache_write_tokens: usage.written,
        cache_write_1h_tokens: usage.written1h,
        output_reasoning_tokens: usage.reasoning,
        input_audio_tokens: usage.audio + usage.cachedAudio,
        cache_audio_read_tokens: usage.cachedAudio,
        input_image_tokens: usage.image,
        cache_image_read_tokens: 0,
        input_video_tokens: usage.video,
        output_audio_tokens: usage.audioOutput,
        output_image_tokens: usage.imageOutput,
        web_searches: usage.webSearches,
        storage_searches: usage.fileSearches,
      },
    }))
  }),
)

/** Finds the variant that a tier is in the catalogue. */
function toContext(tier: string, variants: readonly Readonly<Record<string, string>>[]): object {
  const wanted = tier === 'batch' ? 'processing' : 'service_tier'
  if (tier === 'standard') return {}
  return variants.find((when) => when[wanted] === tier || when['speed'] === tier) ?? {}
}

const litellm = Object.entries(catalogues.litellm as Readonly<Record<string, unknown>>).flatMap(
  ([name, value]) => {
    const { data: entry } = litellmEntry.safeParse(value)
    if (!entry || typeof entry['input_cost_per_token'] !== 'number') return []
    const { tiers, ...sheet } = readLiteLlm(entry)
    // LiteLLM prices batches in another function.
    const priced = { ...sheet, tiers: tiers.filter(({ tier }) => tier !== 'batch') }
    if (!hasConditions(priced)) return []
    const free = { ...priced, fees: {} }
    return drawCases(name, free, (usage) => ({
      entry,
      tier: usage.tier,
      geo: usage.geo,
      at: usage.at,
      usage: {
        ...usage,
        written_1h: usage.written1h,
        written_12h: usage.written12h,
      },
    }))
  },
)

const priced = JSON.parse(
  execFileSync('python3', ['scripts/prices/price.py', catalogues.folder], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    input: JSON.stringify({
      genai: genai.map(({ given }) => given),
      litellm: litellm.map(({ given }) => given),
    }),
  }),
) as { readonly genai: readonly string[]; readonly litellm: readonly string[] }

report('genai-prices', catalogues.versions.genaiPrices, genai, priced.genai)
report('litellm', catalogues.versions.litellm, litellm, priced.litellm)

function report(name: string, version: string, cases: readonly Case[], theirs: readonly string[]) {
  const entries = new Set(cases.map((each) => each.name))
  const different = cases.flatMap((each, at) => {
    const other = theirs[at] ?? 'no price'
    return isEqual(each.own, other) ? [] : [{ ...each, other }]
  })
  const equal = cases.length - different.length
  console.log(
    `${name} ${version}: ${entries.size} entries, ${cases.length} usages, ${equal} equal, ${different.length} different`,
  )
  for (const entry of new Set(different.map((each) => each.name))) {
    const all = different.filter((each) => each.name === entry)
    const [first] = all
    if (!first) continue
    const { own, other, usage, sheet, given } = first
    console.log(`  ${entry}: ${all.length} of ${usagesPerEntry}, such as ${own} and ${other}`)
    console.log(`    ${JSON.stringify(usage)}`)
    console.log(`    reason: ${findReason(sheet, given) ?? 'not known'}`)
  }
}

/** Returns why the catalogue's package has another price, where that is known. */
function findReason({ base, unread }: Sheet, given: object): string | undefined {
  const { entry } = given as { readonly entry?: Readonly<Record<string, unknown>> }
  if (entry?.['output_cost_per_image_token'] && !base.cost_per_1m_output) {
    return 'text of a model without a price of text is charged as images there'
  }
  if (entry?.['cache_read_input_token_cost'] === 0) {
    return 'a price of 0 for what was read from a cache is taken as none here'
  }
  return unread.length > 0 ? `not read: ${unread.join(', ')}` : undefined
}

/** Prices of LiteLLM are doubles, whose error is far below a tenth of a nano-dollar here. */
function isEqual(own: bigint, dollars: string): boolean {
  const other = Number(dollars) * 1e9
  return Math.abs(Number(own) - other) <= 0.5001
}
