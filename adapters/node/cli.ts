import { Command, CommanderError, Option } from 'commander'
import { outline } from '../../src/core/outline.ts'
import { checkConfig, version } from '../../src/index.ts'
import { CommandFailure } from './command-failure.ts'
import { configOption, configText, defaultConfig, demoText } from './config-text.ts'
import { checkHealth } from './health.ts'
import { addKeysCommand } from './keys-command.ts'
import { openNodeStore } from './ports/store.ts'
import { start } from './start.ts'

/**
 * Runs a command line, without the leading names of executable and script. Resolves with the exit
 * code when the command is done: 0, 1 for trouble at run time, 2 for bad usage or configuration.
 */
export async function run(args: readonly string[]): Promise<number> {
  try {
    await program().parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    return exitCodeOf(error)
  }
}

interface RootOptions {
  readonly config?: string
  readonly checkConfig?: boolean
  readonly demo?: boolean
}

function program(): Command {
  const root = new Command('gateway')
    .description('One OpenAI-compatible interface in front of many model providers.')
    // Settings of the root command are passed on to those below it, so they come first.
    .exitOverride()
    .enablePositionalOptions()
    .version(version, '--version', 'print the version')
    .option(...configOption)
    .option('--check-config', 'judge the configuration and exit')
    .addOption(new Option('--demo', 'serve the demo configuration').conflicts('config'))
    .addHelpText('after', notes)
    .allowExcessArguments()
    .action(runRoot)
  root
    .command('health')
    .description('ask the gateway of this configuration whether it is alive')
    .option(...configOption)
    .action(runHealth)
  addKeysCommand(root, openNodeStore)
  return root
}

const notes = `
Environment:
  GATEWAY_LOG_LEVEL            debug, info (default), warn or error
  GATEWAY_MASTER_KEY           64 hex digits, needed to serve when auth is on
  GATEWAY_DB_AUTH_TOKEN        the token of a remote database
  GATEWAY_<SECTION>__<KEY>     overrides a setting: GATEWAY_SERVER__PORT=9090
  NO_COLOR                     no colours in the log

Exit codes: 0 fine, 1 trouble at run time, 2 bad usage or configuration.
SIGTERM and SIGINT let requests finish for up to 30 s; a second one ends the process at once.`

async function runRoot(options: RootOptions, { args }: Command): Promise<void> {
  if (args.length > 0) throw new CommandFailure(2, `unknown command '${args[0]}'; see --help`)
  const { config: path, checkConfig: onlyCheck, demo } = options
  const name = demo ? 'the demo configuration' : (path ?? defaultConfig)
  const config = demo ? await demoText() : await configText(path)
  if (onlyCheck) return check(name, config)
  await start({
    config,
    path: demo ? undefined : (path ?? defaultConfig),
    env: process.env,
    onListening: demo ? invite : undefined,
  })
}

async function check(name: string, config: string): Promise<void> {
  const verdict = await checkConfig(config, process.env)
  if (!verdict.ok) throw new CommandFailure(2, ...verdict.problems)
  const { providers, models, warnings } = verdict.summary
  print(`${name} is valid: ${counted(providers, 'provider')}, ${counted(models, 'model')}`)
  for (const warning of warnings) print(`warning: ${warning}`)
}

/** Docker keeps exit code 2 of a health check for itself. */
async function runHealth({ config }: { config?: string }): Promise<void> {
  try {
    await checkHealth(await configText(config), process.env)
  } catch (error) {
    throw error instanceof CommandFailure ? new CommandFailure(1, ...error.lines) : error
  }
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** What to try first. */
function invite(address: string): void {
  print(`
Model Gateway ${version} serves its demo at ${address}

  curl ${address}/v1/models
  curl ${address}/v1/chat/completions -d '${chatBody()}'
  curl -N ${address}/v1/chat/completions -d '${chatBody({ stream: true })}'
  curl ${address}/metrics
`)
}

function chatBody(fields: object = {}): string {
  return JSON.stringify({
    model: 'demo',
    ...fields,
    messages: [{ role: 'user', content: 'Hello' }],
  })
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

function exitCodeOf(error: unknown): number {
  // Help and version end here as well, with 0; the rest has been told by commander itself.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof CommandFailure) {
    process.stderr.write(`${error.lines.join('\n')}\n`)
    return error.exitCode
  }
  process.stderr.write(`the gateway has failed: ${JSON.stringify(outline(error))}\n`)
  return 1
}
