import type { Command } from 'commander'
import { loadConfig } from '../../../src/config/index.ts'
import { kinds } from '../../../src/providers/index.ts'
import { configOption, defaultConfig, readConfigText } from '../config/config-text.ts'
import { CommandFailure } from '../failures/command-failure.ts'
import { toConfigFailure } from '../failures/config-failure.ts'
import { printJson } from '../output/json.ts'
import { createStyle } from '../output/style.ts'
import { readWidth } from '../output/table.ts'
import { nodeConfigFile } from '../ports/config-file.ts'
import type { Catalogue, ModelWrite } from '../prices/index.ts'
import { print } from '../process/print.ts'
import { readText } from '../process/system.ts'
import { renderPrices } from './prices-text.ts'

/** Adds `prices`, which compares the prices of the file with a table. */
export function addPricesCommand(root: Command): void {
  root
    .command('prices')
    .description('compare the prices of the models with a table, and write them into the file')
    .option(...configOption)
    .option('--write', 'write the prices into the file; the former file is kept as .bak')
    .option('--only-missing', 'leave prices that the file has')
    .option('--check', 'exit with 1 if a price differs from the table')
    .option('--all', 'show the prices that do not differ too')
    .option('--from <file>', 'a table of LiteLLM, genai-prices or models.dev, or a newer one')
    .option('--wide', 'do not fit the table to the terminal')
    .option('--json', 'print an object with the changes and the unknown models')
    .addHelpText('after', '\nExample:\n  gateway prices --only-missing --write')
    .action((_: unknown, command: Command) => showPrices(command.optsWithGlobals()))
}

interface PricesOptions {
  readonly config?: string
  readonly write?: boolean
  readonly onlyMissing?: boolean
  readonly check?: boolean
  readonly all?: boolean
  readonly from?: string
  readonly wide?: boolean
  readonly json?: boolean
}

async function showPrices(options: PricesOptions): Promise<void> {
  const { config: path = defaultConfig, onlyMissing = false } = options
  if (options.write && options.check) throw new CommandFailure(2, '--check writes nothing')
  const text = await readConfigText(options.config)
  const loaded = await loadConfig({ text, env: process.env, kinds, readFile: readText })
  if (!loaded.ok) throw toConfigFailure(loaded.problems, path)
  // Loaded here, because only this command and a check of the file need a table.
  const { comparePrices, planWrites } = await import('../prices/index.ts')
  const catalogue = await openCatalogue(options.from)
  const { models, unknown } = comparePrices(loaded.config, { catalogue, kinds })
  const writes = await planWrites(models, { text, onlyMissing })
  if (options.write && writes.length > 0) await write({ path, text, writes, catalogue })
  if (options.json) await printJson(toJson(catalogue, writes, unknown))
  else {
    const shown = options.all ? models : undefined
    const view = { catalogue, writes, unknown, models: shown, width: readWidth(options) }
    await print(renderPrices(view, createStyle()))
    if (writes.length > 0 && !options.check) {
      await print(
        options.write ? `wrote ${path}` : 'write these prices with: gateway prices --write',
      )
    }
  }
  if (options.check && writes.length > 0) {
    const count = writes.length === 1 ? 'one model differ' : `${writes.length} models differ`
    throw new CommandFailure(1, `${path}: the prices of ${count} from the ${catalogue.name}`)
  }
}

async function openCatalogue(file: string | undefined): Promise<Catalogue> {
  const { openShippedTable, readCatalogue } = await import('../prices/index.ts')
  if (file === undefined) return openShippedTable()
  const text = await readText(file).catch(({ code }: NodeJS.ErrnoException) => {
    throw new CommandFailure(2, `${file}: cannot be read (${code})`)
  })
  // The day in UTC, and not the hour, decides between prices that a catalogue has by date.
  const day = new Date().toISOString().slice(0, 'YYYY-MM-DD'.length)
  const catalogue = readCatalogue(text, day)
  if (catalogue) return catalogue
  throw new CommandFailure(
    2,
    `${file}: not a table of prices; known are prices.json of the gateway, and the JSON files of LiteLLM, genai-prices and models.dev`,
  )
}

interface PriceWrite {
  readonly path: string
  readonly text: string
  readonly writes: readonly ModelWrite[]
  readonly catalogue: Catalogue
}

async function write({ path, text, writes, catalogue }: PriceWrite): Promise<void> {
  const { comparePrices, writePrices } = await import('../prices/index.ts')
  const edited = await writePrices(text, writes, catalogue)
  // A form that the editor does not know, or misreads, must never damage the file.
  const checked = edited ? await loadConfig({ text: edited, env: process.env, kinds }) : undefined
  if (!edited || !checked?.ok) throw cannotEdit(path)
  const { models } = comparePrices(checked.config, { catalogue, kinds })
  for (const { compared, writesEntries } of writes) {
    const after = models.find(({ at }) => at.join() === compared.at.join())
    const isChanged = compared.changes.every(
      ({ field }) => !after?.changes.some((change) => change.field === field),
    )
    if (!isChanged || (writesEntries && after?.missing.length !== 0)) throw cannotEdit(path)
  }
  const staged = await nodeConfigFile(path).stage(new TextEncoder().encode(edited))
  await staged.commit().finally(() => staged.discard())
}

function cannotEdit(path: string): CommandFailure {
  return new CommandFailure(1, `${path}: its models are in a form that cannot be edited; unchanged`)
}

function toJson(
  { name }: Catalogue,
  writes: readonly ModelWrite[],
  unknown: readonly string[],
): object {
  const listed = writes.map((each) => ({ ...each, ...each.compared }))
  return {
    table: name,
    changes: listed.flatMap(({ provider, model, changes }) =>
      changes.map((change) => ({ provider, model, ...change })),
    ),
    entries: listed.flatMap(({ provider, model, missing, writesEntries }) =>
      missing.map((entry) => ({ provider, model, entry, isWritten: writesEntries })),
    ),
    unknown,
  }
}
