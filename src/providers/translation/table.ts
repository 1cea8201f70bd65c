import { listOutcomes, type TranslationOutcome, type TranslationRow } from './cell.ts'
import { type ApiFamily, mapApiFamilies } from './conditions.ts'
import { account } from './table/account.ts'
import { messages } from './table/messages.ts'
import { output } from './table/output.ts'
import { parts } from './table/parts.ts'
import { sampling } from './table/sampling.ts'
import { tools } from './table/tools.ts'
import { vendorFields } from './table/vendor-fields.ts'

/** The table in its sections, by the headings of the documentation. */
export const sections = {
  'Length and choice': sampling,
  Output: output,
  Tools: tools,
  Messages: messages,
  'Parts of a message': parts,
  'Transport and account': account,
  'Fields of one vendor': vendorFields,
} as const

const rows = {
  ...sampling,
  ...output,
  ...tools,
  ...messages,
  ...parts,
  ...account,
  ...vendorFields,
}

/** Anything in a request that the APIs handle differently. */
export type Feature = keyof typeof rows

/**
 * What each API supports. These rows decide which fields a translation leaves out, which requests a strict
 * provider refuses, and which links a chain skips. The documentation is generated from them.
 */
export const translationTable: Readonly<Record<Feature, TranslationRow>> = rows

/** The features that an API may drop, ignore or refuse. Requests are searched only for these. */
export const lossyFeatures: Readonly<Record<ApiFamily, ReadonlySet<Feature>>> =
  mapApiFamilies(findLossyFeatures)

function findLossyFeatures(family: ApiFamily): ReadonlySet<Feature> {
  // The names of the rows are the features.
  const entries = Object.entries(translationTable) as [Feature, TranslationRow][]
  const lossy = entries.filter(([, row]) => listOutcomes(row[family]).some(isLoss))
  return new Set(lossy.map(([feature]) => feature))
}

function isLoss({ verdict }: TranslationOutcome): boolean {
  return verdict !== 'carried' && verdict !== 'mapped'
}
