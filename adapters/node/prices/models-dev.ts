import * as z from 'zod'
import { type Catalogue, listSpellings } from './catalogue.ts'
import { catalogueNames } from './catalogue-names.ts'
import type { Cell, TokenPrice } from './settings.ts'
import type { Sheet, Step } from './sheet.ts'
import { toSettings } from './to-settings.ts'

const cost = z.looseObject({
  tiers: z
    .array(z.looseObject({ tier: z.looseObject({ type: z.string(), size: z.number() }) }))
    .optional(),
  context_over_200k: z.looseObject({}).optional(),
})
type Cost = z.infer<typeof cost>

/** The catalogue of models.dev: https://models.dev/api.json */
export const modelsDev = z.record(
  z.string(),
  z.looseObject({
    models: z.record(z.string(), z.looseObject({ id: z.string(), cost: cost.optional() })),
  }),
)

/** Makes a catalogue of the file of models.dev, which has prices by the length of the prompt only. */
export function openModelsDev(file: z.infer<typeof modelsDev>): Catalogue {
  return {
    name: 'price table of models.dev',
    find: (kind, id) => {
      const vendor = file[catalogueNames[kind]?.modelsDev ?? '']
      if (!vendor) return undefined
      const byId = new Map(
        Object.values(vendor.models).map((model) => [model.id.toLowerCase(), model]),
      )
      const found = listSpellings(kind, id)
        .map((spelling) => byId.get(spelling)?.cost)
        .find((each) => each !== undefined)
      return found && { settings: toSettings(readCost(found)), places: {} }
    },
  }
}

const names: Readonly<Record<string, TokenPrice>> = {
  input: 'cost_per_1m_input',
  output: 'cost_per_1m_output',
  reasoning: 'cost_per_1m_reasoning',
  cache_read: 'cost_per_1m_cached_input',
  cache_write: 'cost_per_1m_cache_write',
  input_audio: 'cost_per_1m_audio_input',
  output_audio: 'cost_per_1m_audio_output',
}

/** The size of a tier is its first token, that of the older member the last one below it. */
function readCost(own: Cost): Sheet {
  const { tiers, context_over_200k: older } = own
  const steps =
    tiers?.flatMap((tier): Step[] =>
      tier.tier.type === 'context' ? [{ above: tier.tier.size - 1, prices: readCell(tier) }] : [],
    ) ?? (older ? [{ above: 200_000, prices: readCell(older) }] : [])
  return {
    base: readCell(own),
    fees: {},
    steps: steps.sort((a, b) => a.above - b.above),
    tiers: [],
    factors: [],
    windows: [],
    later: [],
    places: {},
    unread: [],
  }
}

function readCell(from: Readonly<Record<string, unknown>>): Cell {
  const prices = Object.entries(names).flatMap(([key, name]) => {
    const value = from[key]
    return typeof value === 'number' ? [[name, value] as const] : []
  })
  return Object.fromEntries(prices)
}
