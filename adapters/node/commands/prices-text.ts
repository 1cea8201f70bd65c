import { describeEntry } from '../../../src/pricing/index.ts'
import type { Style } from '../output/style.ts'
import { renderTable } from '../output/table.ts'
import type {
  Catalogue,
  ComparedModel,
  ModelWrite,
  PriceChange,
  PriceEntrySettings,
} from '../prices/index.ts'

interface ShownPrices {
  readonly catalogue: Catalogue
  readonly writes: readonly ModelWrite[]
  readonly unknown: readonly string[]
  /** All models, when those that do not differ are shown too. */
  readonly models: readonly ComparedModel[] | undefined
  /** That of the table, as in `TableText`. */
  readonly width?: number | undefined
}

/** Renders the prices that differ from a table, and those of later dates below them. */
export function renderPrices(
  { catalogue, writes, unknown, models, width }: ShownPrices,
  style: Style,
): string {
  const rows = models
    ? models.flatMap((model) => listAll(model, style))
    : writes.flatMap(({ compared }) => listDifferent(compared, style))
  const columns = ['MODEL', 'PROVIDER', 'SETTING', '>FILE', models ? '>TABLE' : '>TABLE']
  const upcoming = (models ?? writes.map(({ compared }) => compared)).flatMap((model) =>
    (models ? (model.settings.prices ?? []) : model.missing).flatMap((entry) =>
      entry.from === undefined ? [] : describeUpcoming(model, entry),
    ),
  )
  const left = writes.filter(({ hasOwnEntries, writesEntries }) => hasOwnEntries && !writesEntries)
  return [
    style.dim(catalogue.name),
    ...(rows.length > 0 ? [renderTable({ columns, rows, width }, style)] : ['no price differs']),
    ...upcoming,
    ...left
      .filter(({ compared }) => compared.missing.length > 0)
      .map(
        ({ compared: { model, provider } }) =>
          `${model} at ${provider} has entries of its own under prices, which stay as they are`,
      ),
    ...(unknown.length > 0 ? [`not in the table: ${unknown.join(', ')}`] : []),
  ].join('\n')
}

function listDifferent(compared: ComparedModel, style: Style): string[][] {
  const { changes, missing } = compared
  return [
    ...changes.map((change) => toRow(compared, change, style)),
    ...missing
      .filter(({ from }) => from === undefined)
      .map((entry) => toEntryRow(compared, entry, style)),
  ]
}

function listAll(compared: ComparedModel, style: Style): string[][] {
  const { prices = [], ...base } = compared.settings
  const fields = Object.entries(base) as [PriceChange['field'], PriceChange['after']][]
  return [
    ...fields.map(([field, after]) => {
      const change = compared.changes.find((each) => each.field === field)
      return toRow(compared, change ?? { field, before: after, after }, style)
    }),
    ...prices
      .filter(({ from }) => from === undefined)
      .map((entry) => toEntryRow(compared, entry, style)),
  ]
}

function toRow({ model, provider }: ComparedModel, change: PriceChange, style: Style): string[] {
  const { field, before, after } = change
  const text = describeValue(after)
  return [
    style.bold(model),
    provider,
    field,
    before === undefined
      ? style.dim('none')
      : describeValue(before) === text
        ? text
        : style.red(describeValue(before)),
    style.green(text),
  ]
}

function toEntryRow(compared: ComparedModel, entry: PriceEntrySettings, style: Style): string[] {
  const isMissing = compared.missing.includes(entry)
  return [
    style.bold(compared.model),
    compared.provider,
    describeEntry({ ...entry, multiply: undefined }),
    isMissing ? style.dim(compared.own.length === 0 ? 'none' : 'other') : 'same',
    style.green(describePrices(entry)),
  ]
}

function describeValue(value: PriceChange['after']): string {
  if (typeof value === 'number') return String(value)
  return Object.entries(value)
    .map(([tool, price]) => `${tool} ${price}`)
    .join(', ')
}

/** Names the prices of an entry without what all names begin with. */
function describePrices({ multiply, ...entry }: PriceEntrySettings): string {
  const named = Object.entries(entry).filter(([name]) => name.startsWith('cost_'))
  const prices = named.map(([name, price]) => `${name.replace('cost_per_1m_', '')} ${price}`)
  return [...(multiply === undefined ? [] : [`x${multiply}`]), ...prices].join(', ')
}

function describeUpcoming({ model, provider }: ComparedModel, entry: PriceEntrySettings): string {
  const { from, above_input: above } = entry
  const size = above === undefined ? '' : ` above ${above} tokens`
  return `from ${from} on, ${model} at ${provider}${size}: ${describePrices(entry)}`
}
