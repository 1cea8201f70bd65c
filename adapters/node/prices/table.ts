import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { type Catalogue, listSpellings, type PricedModel } from './catalogue.ts'
import type { PriceSettings } from './settings.ts'

/** One line of the table: the ids of a vendor's models with the same prices, and their settings. */
export type TableRow = { readonly kind: string; readonly ids: readonly string[] } & {
  readonly places?: Readonly<Record<string, number>>
} & PriceSettings

/** The table of prices of the gateway. */
export const tableFile = z.looseObject({
  /** The day of the prices, `YYYY-MM-DD`. */
  date: z.string().regex(/^\d{4}-\d\d-\d\d$/),
  models: z.array(
    z.looseObject({
      kind: z.string(),
      ids: z.array(z.string()),
      places: z.record(z.string(), z.number()).optional(),
    }),
  ),
})

/** Makes a catalogue of a table in the gateway's own form. */
export function openTable({ date, models }: z.infer<typeof tableFile>): Catalogue {
  const found = new Map<string, PricedModel>()
  for (const { kind, ids, places = {}, ...settings } of models) {
    // The settings are checked with the configuration that they are written into.
    const model = { settings: settings as PriceSettings, places }
    for (const id of ids) found.set(`${kind} ${id.toLowerCase()}`, model)
  }
  return {
    name: `price table of ${date}`,
    find: (kind, id) =>
      listSpellings(kind, id)
        .map((spelling) => found.get(`${kind} ${spelling}`))
        .find((model) => model !== undefined),
  }
}

/** Reads the table that comes with the gateway. Only commands need it, so a start does not read it. */
export async function openShippedTable(): Promise<Catalogue> {
  const text = await readFile(new URL('./prices.json', import.meta.url), 'utf8')
  // The script that writes the file checks it.
  return openTable(JSON.parse(text) as z.infer<typeof tableFile>)
}
