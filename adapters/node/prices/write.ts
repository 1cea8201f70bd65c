import { editToml, type TomlChange } from '../config/toml-edit.ts'
import { findMarked, type TableList, writeMarked } from '../config/toml-tables.ts'
import type { Catalogue } from './catalogue.ts'
import type { ComparedModel, PriceChange } from './compare.ts'
import { toPairs, toToml } from './to-toml.ts'

/** The comment of entries that the command has written begins with it. */
const mark = 'from the price table of'

/** What is to be written for a model. */
export interface ModelWrite {
  readonly compared: ComparedModel
  /** The entries of the file are the user's own, and stay as they are. */
  readonly hasOwnEntries: boolean
  /** The entries are written anew. */
  readonly writesEntries: boolean
}

export interface PlanOptions {
  readonly text: string
  /** Leaves prices that the file has. */
  readonly onlyMissing: boolean
}

/** Decides what is to be written for the models that differ from a catalogue. */
export async function planWrites(
  models: readonly ComparedModel[],
  { text, onlyMissing }: PlanOptions,
): Promise<readonly ModelWrite[]> {
  const marked = await findMarked(text, models.map(toList), mark)
  return models.flatMap((model, at) => {
    const written = new Set(marked[at])
    const { own, missing, settings, changes: all } = model
    const hasOwnEntries = own.some((_, position) => !written.has(position))
    const listed = new Set((settings.prices ?? []).map((entry) => sortText(entry)))
    const isStale = own.some(
      (entry, position) => written.has(position) && !listed.has(sortText(entry)),
    )
    const changes = onlyMissing ? all.filter(({ before }) => before === undefined) : all
    const differs = onlyMissing
      ? missing.length > 0 && own.length === 0
      : missing.length > 0 || isStale
    if (changes.length === 0 && !differs) return []
    const writesEntries = differs && (!hasOwnEntries || written.size > 0)
    return [{ compared: { ...model, changes }, hasOwnEntries, writesEntries }]
  })
}

/**
 * Writes the prices of a catalogue into the text of a configuration. Resolves to undefined where it has a form that
 * cannot be edited.
 */
export async function writePrices(
  text: string,
  writes: readonly ModelWrite[],
  { name }: Catalogue,
): Promise<string | undefined> {
  const edited = await editToml(
    text,
    writes.flatMap(({ compared: { at, changes } }) =>
      changes.flatMap((change) => listEdits(toPath(at), change)),
    ),
  )
  if (edited === undefined) return undefined
  const lists = writes
    .filter(({ writesEntries }) => writesEntries)
    .map(({ compared }) => ({
      ...toList(compared),
      comment: `from the ${name}`,
      tables: (compared.settings.prices ?? []).map(toPairs),
    }))
  return writeMarked(edited, lists, mark)
}

/** A table of tools that the file has may have a header of its own, so its keys are set one by one. */
function listEdits(table: TomlChange['table'], change: PriceChange): readonly TomlChange[] {
  const { field, before, after } = change
  if (typeof before !== 'object' || typeof after !== 'object') {
    return [{ table, key: field, value: toToml(after) }]
  }
  const prices: Readonly<Record<string, number>> = before
  return Object.entries(after)
    .filter(([tool, price]) => prices[tool] !== price)
    .map(([key, price]) => ({ table: [...table, field], key, value: toToml(price) }))
}

function toList({ at }: ComparedModel): TableList {
  return { parent: toPath(at), key: 'prices' }
}

function toPath([provider, model]: ComparedModel['at']) {
  return ['providers', provider, 'models', model] as const
}

/** Renders settings so that equal ones have the same text. */
export function sortText(value: object): string {
  const pairs = Object.entries(value).filter(([, own]) => own !== undefined)
  return JSON.stringify(pairs.sort(([a], [b]) => (a < b ? -1 : 1)))
}
