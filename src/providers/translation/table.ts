import {
  type ApiFamily,
  listOutcomes,
  type TranslationOutcome,
  type TranslationRow,
} from './cell.ts'
import { account } from './table/account.ts'
import { messages } from './table/messages.ts'
import { output } from './table/output.ts'
import { parts } from './table/parts.ts'
import { sampling } from './table/sampling.ts'
import { tools } from './table/tools.ts'

/** The table in its sections, by the headings of the documentation. */
export const sections = {
  'Length and choice': sampling,
  Output: output,
  Tools: tools,
  Messages: messages,
  'Parts of a message': parts,
  'Transport and account': account,
} as const

const rows = { ...sampling, ...output, ...tools, ...messages, ...parts, ...account }

/** Whatever a client may ask for that becomes different things in different APIs. */
export type Feature = keyof typeof rows

/**
 * What each API can carry. What a translation leaves out, what a strict provider refuses, and which
 * links of a chain are passed over, all follow from these rows; the documentation is printed from them.
 */
export const table: Readonly<Record<Feature, TranslationRow>> = rows

/** The features that a family may lose: only for these is a request looked through. */
export const lossyFeatures: Readonly<Record<ApiFamily, ReadonlySet<Feature>>> = {
  anthropic: findLossyFeatures('anthropic'),
  gemini: findLossyFeatures('gemini'),
  bedrock: findLossyFeatures('bedrock'),
  cohere: findLossyFeatures('cohere'),
}

function findLossyFeatures(family: ApiFamily): ReadonlySet<Feature> {
  // Their names are the features.
  const entries = Object.entries(table) as [Feature, TranslationRow][]
  const lossy = entries.filter(([, row]) => listOutcomes(row[family]).some(isLoss))
  return new Set(lossy.map(([feature]) => feature))
}

function isLoss({ verdict }: TranslationOutcome): boolean {
  return verdict !== 'carried' && verdict !== 'mapped'
}
