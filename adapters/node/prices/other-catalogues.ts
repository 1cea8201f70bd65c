import * as z from 'zod'
import { type Catalogue, listSpellings } from './catalogue.ts'
import { catalogueNames } from './catalogue-names.ts'
import { genaiPrices, matchesId, readGenaiPrices } from './genai-prices.ts'
import { type LiteLlmEntry, litellmEntry, readLiteLlm } from './litellm.ts'
import { modelsDev, openModelsDev } from './models-dev.ts'
import { openTable, tableFile } from './table.ts'
import { toSettings } from './to-settings.ts'

/**
 * Reads a catalogue in any known form: the gateway's own table, or a file of LiteLLM, genai-prices or models.dev.
 * Undefined for another file. Prices by date are those of `day`, `YYYY-MM-DD`.
 */
export function readCatalogue(text: string, day: string): Catalogue | undefined {
  const value = parseJson(text)
  const table = tableFile.safeParse(value)
  if (table.success) return openTable(table.data)
  const genai = genaiPrices.safeParse(value)
  if (genai.success) return openGenaiPrices(genai.data, day)
  const models = modelsDev.safeParse(value)
  if (models.success && Object.keys(models.data).length > 0) return openModelsDev(models.data)
  const litellm = litellmFile.safeParse(value)
  return litellm.success && hasPrices(litellm.data) ? openLiteLlm(litellm.data) : undefined
}

const litellmFile = z.record(z.string(), z.looseObject({}))

function hasPrices(file: z.infer<typeof litellmFile>): boolean {
  return Object.values(file).some((entry) => 'input_cost_per_token' in entry)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function openGenaiPrices(file: z.infer<typeof genaiPrices>, day: string): Catalogue {
  return {
    name: 'price table of genai-prices',
    find: (kind, id) => {
      const vendor = catalogueNames[kind]?.genaiPrices
      const models = file.find((each) => each.id === vendor)?.models ?? []
      const found = listSpellings(kind, id)
        .map((spelling) => models.find(({ match }) => matchesId(match, spelling)))
        .find((model) => model !== undefined)
      return found && { settings: toSettings(readGenaiPrices(found, day)), places: {} }
    },
  }
}

function openLiteLlm(file: z.infer<typeof litellmFile>): Catalogue {
  const byName = new Map(Object.entries(file).map(([name, own]) => [name.toLowerCase(), own]))
  const findEntry = (kind: string, id: string): LiteLlmEntry | undefined => {
    for (const [provider, prefix] of catalogueNames[kind]?.litellm ?? []) {
      const parsed = litellmEntry.safeParse(byName.get(`${prefix}${id}`))
      if (parsed.success && parsed.data.litellm_provider === provider) return parsed.data
    }
    return undefined
  }
  return {
    name: 'price table of LiteLLM',
    find: (kind, id) => {
      const entry = listSpellings(kind, id)
        .map((spelling) => findEntry(kind, spelling))
        .find((each) => each !== undefined)
      if (!entry) return undefined
      const sheet = readLiteLlm(entry)
      return { settings: toSettings(sheet), places: sheet.places }
    },
  }
}
