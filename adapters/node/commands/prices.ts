import type { Command } from 'commander'
import { type Config, loadConfig } from '../../../src/config/index.ts'
import { kinds } from '../../../src/providers/index.ts'
import { configOption, defaultConfig, readConfigText } from '../config/config-text.ts'
import {
  comparePrices,
  type PriceChange,
  type PriceComparison,
  type UpcomingPrices,
} from '../config/price-catalogue.ts'
import { editToml } from '../config/toml-edit.ts'
import { CommandFailure } from '../failures/command-failure.ts'
import { toConfigFailure } from '../failures/config-failure.ts'
import { formatRoughly } from '../output/amounts.ts'
import { printJson } from '../output/json.ts'
import { createStyle, type Style } from '../output/style.ts'
import { renderTable } from '../output/table.ts'
import { nodeConfigFile } from '../ports/config-file.ts'
import { print } from '../process/print.ts'
import { readText } from '../process/system.ts'

/** Adds `prices`, which compares the prices of the file with a catalogue. */
export function addPricesCommand(root: Command): void {
  root
    .command('prices')
    .description('compare the prices of the models with a catalogue, and write them into the file')
    .option(...configOption)
    .option('--write', 'write the prices into the file; the former file is kept as .bak')
    .option('--only-missing', 'leave prices that the file has')
    .option('--json', 'print an object with the changes and the unknown models')
    .addHelpText('after', '\nExample:\n  gateway prices --only-missing --write')
    .action((_: unknown, command: Command) => showPrices(command.optsWithGlobals()))
}

interface PricesOptions {
  readonly config?: string
  readonly write?: boolean
  readonly onlyMissing?: boolean
  readonly json?: boolean
}

async function showPrices(options: PricesOptions): Promise<void> {
  const { config: path = defaultConfig, write, onlyMissing, json } = options
  const text = await readConfigText(options.config)
  const loaded = await loadConfig({ text, env: process.env, kinds, readFile: readText })
  if (!loaded.ok) throw toConfigFailure(loaded.problems, path)
  const today = new Date().toISOString().slice(0, 'YYYY-MM-DD'.length)
  const { changes: all, ...others } = await comparePrices(loaded.config, today)
  const changes = onlyMissing ? all.filter(({ before }) => before === undefined) : all
  if (write && changes.length > 0) await writePrices({ path, text, changes })
  if (json) return printJson({ changes, ...others })
  await print(await renderComparison({ changes, ...others }, createStyle()))
  if (changes.length === 0) return
  await print(write ? `wrote ${path}` : 'write these prices with: gateway prices --write')
}

interface PriceWrite {
  readonly path: string
  readonly text: string
  readonly changes: readonly PriceChange[]
}

async function writePrices({ path, text, changes }: PriceWrite): Promise<void> {
  const edited = await editToml(
    text,
    changes.map(({ at: [provider, model], field, after }) => ({
      table: ['providers', provider, 'models', model],
      key: field,
      value: String(after),
    })),
  )
  // A form that the editor does not know, or misreads, must never damage the file.
  const checked = edited ? await loadConfig({ text: edited, env: process.env, kinds }) : undefined
  if (!edited || !checked?.ok || !hasAll(checked.config, changes)) {
    throw new CommandFailure(
      1,
      `${path}: its models are in a form that cannot be edited; unchanged`,
    )
  }
  const staged = await nodeConfigFile(path).stage(new TextEncoder().encode(edited))
  await staged.commit().finally(() => staged.discard())
}

function hasAll({ providers }: Config, changes: readonly PriceChange[]): boolean {
  return changes.every(({ at: [provider, model], field, after }) => {
    return providers[provider]?.models[model]?.[field] === after
  })
}

async function renderComparison(
  { changes, upcoming, unknown }: PriceComparison,
  style: Style,
): Promise<string> {
  const columns = ['MODEL', 'PROVIDER', 'SETTING', '>FILE', '>CATALOGUE', '']
  const rows = changes.map(({ model, provider, field, before, after, upTo, isPeak }) => [
    style.bold(model),
    provider,
    field,
    before === undefined ? style.dim('none') : style.red(String(before)),
    style.green(String(after)),
    style.dim(describeConditions({ upTo, isPeak })),
  ])
  return [
    rows.length > 0 ? await renderTable({ columns, rows }, style) : 'no price differs',
    ...upcoming.map(describeUpcoming),
    ...(unknown.length > 0 ? [`not in the catalogue: ${unknown.join(', ')}`] : []),
  ].join('\n')
}

function describeConditions({ upTo, isPeak }: Pick<PriceChange, 'upTo' | 'isPeak'>): string {
  return [
    ...(upTo === undefined ? [] : [`higher beyond ${formatRoughly(upTo)} tokens`]),
    ...(isPeak ? ['lower at other times of the day'] : []),
  ].join(', ')
}

function describeUpcoming({ provider, model, from, prices }: UpcomingPrices): string {
  const listed = Object.entries(prices).map(([field, price]) => `${field} = ${price}`)
  return `from ${from} on, ${model} at ${provider}: ${listed.join(', ')}`
}
