import type { Command } from 'commander'
import { loadConfig, type Origin, traceSettings } from '../../../src/config/index.ts'
import { kinds } from '../../../src/providers/index.ts'
import { configOption, defaultConfig, readConfigText } from '../config/config-text.ts'
import { toConfigFailure } from '../failures/config-failure.ts'
import { printJson } from '../output/json.ts'
import { createStyle, type Style } from '../output/style.ts'
import { readWidth, renderTable } from '../output/table.ts'
import { print } from '../process/print.ts'
import { readText } from '../process/system.ts'

/** Adds `config`, which shows the settings in force and where each comes from. */
export function addConfigCommand(root: Command): void {
  root
    .command('config')
    .description('show the settings of the file and the environment, with credentials masked')
    .option(...configOption)
    .option('--effective', 'also show the defaults of all other settings')
    .option('--wide', 'do not fit the table to the terminal')
    .option('--json', 'print an array of settings')
    .addHelpText('after', '\nExample:\n  gateway config --effective')
    .action((_: unknown, command: Command) => showConfig(command.optsWithGlobals()))
}

interface ShowOptions {
  readonly config?: string
  readonly effective?: boolean
  readonly wide?: boolean
  readonly json?: boolean
}

async function showConfig({ config: path, effective, wide, json }: ShowOptions): Promise<void> {
  const text = await readConfigText(path)
  const loaded = await loadConfig({ text, env: process.env, kinds, readFile: readText })
  if (!loaded.ok) throw toConfigFailure(loaded.problems, path ?? defaultConfig)
  const settings = traceSettings(loaded).filter(({ origin }) => effective || origin !== 'default')
  if (json) return printJson(settings)
  const style = createStyle()
  const columns = ['SETTING', 'VALUE', 'FROM']
  const rows = settings.map(({ setting, value, origin, variable }) => [
    setting,
    JSON.stringify(value),
    paintOrigin(style, origin)(variable ?? origin),
  ])
  await print(renderTable({ columns, rows, width: readWidth({ wide }) }, style))
}

function paintOrigin(style: Style, origin: Origin) {
  return { file: style.green, environment: style.yellow, default: style.dim }[origin]
}
