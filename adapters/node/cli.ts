import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { errorFields } from '../../src/core/error-fields.ts'
import { nearestName } from '../../src/core/nearest-name.ts'
import { type Environment, version } from '../../src/index.ts'
import { check } from './check.ts'
import { CommandFailure } from './command-failure.ts'
import { configOption, defaultConfig, readConfigText, readDemoText } from './config-text.ts'
import { renderDemoIntro } from './demo-intro.ts'
import { checkHealth } from './health.ts'
import { addKeysCommand } from './keys-command.ts'
import { openNodeStore } from './ports/store.ts'
import { print, printFailure } from './print.ts'
import { start } from './start.ts'

/**
 * Runs a command line, without the leading names of executable and script. Resolves with the exit
 * code when the command is done: 0, 1 for trouble at run time, 2 for bad usage or configuration.
 */
export async function run(args: readonly string[]): Promise<number> {
  try {
    await createProgram().parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    return await reportFailure(error)
  }
}

interface ServeOptions {
  readonly config?: string
  readonly port?: string
  readonly checkConfig?: boolean
  readonly strict?: boolean
  readonly demo?: boolean
  readonly allowSecond?: boolean
}

function createProgram(): Command {
  const root = new Command('gateway')
    .description('One OpenAI-compatible interface in front of many model providers.')
    // Settings of the root command are passed on to those below it, so they come first.
    .exitOverride()
    .showHelpAfterError('see --help')
    .enablePositionalOptions()
    .version(version, '-v, --version', 'print the version')
    .addHelpText('after', notes)
    .allowExcessArguments()
    .action((_: unknown, command: Command) => runServe(command))
  addServeOptions(root)
  const serve = root
    .command('serve')
    .alias('start')
    .description('serve the configuration, as `gateway` does without a command')
    .addHelpText('after', '\nExample:\n  gateway serve --config gateway.toml --port 9090')
    .action((_: unknown, command: Command) => runServe(command))
  addServeOptions(serve)
  root
    .command('health')
    .description('ask the gateway of this configuration whether it is alive')
    .option(...configOption)
    .addHelpText(
      'after',
      '\nExample:\n  gateway health --config gateway.toml || systemctl restart gateway',
    )
    .action(runHealth)
  addKeysCommand(root, openNodeStore)
  return root
}

function addServeOptions(command: Command): void {
  command
    .option(...configOption)
    .option('--port <number>', 'port to listen on, in place of server.port', parsePort)
    .option('--demo', 'serve the demo configuration')
    .option('--allow-second', 'serve although another gateway works on the same database')
    .option('--check-config', 'judge the configuration, show its providers, and exit')
    .option('--strict', 'with --check-config: exit with 2 when a key is missing or of no use')
}

const notes = `
Examples:
  gateway --demo                         try it: no key, no network
  gateway --config gateway.toml          serve a configuration
  gateway --check-config --strict        judge config.toml and the keys that it names

Environment:
  GATEWAY_LOG_LEVEL            debug, info (default), warn or error
  GATEWAY_MASTER_KEY           64 hex digits, needed to serve when auth is on
  GATEWAY_DB_AUTH_TOKEN        the token of a remote database
  GATEWAY_<SECTION>__<KEY>     overrides a setting: GATEWAY_SERVER__PORT=9090
  NO_COLOR                     no colours in the log

Exit codes: 0 fine, 1 trouble at run time, 2 bad usage or configuration.
SIGTERM and SIGINT let requests finish for up to 30 s; a second one ends the process at once.`

async function runServe(command: Command): Promise<void> {
  const [unknown] = command.args
  if (unknown !== undefined) throw unknownCommand(unknown, command)
  // Options may come before the word `serve` as well as after it.
  const options: ServeOptions = { ...command.optsWithGlobals(), ...command.opts() }
  const { config: path, port, demo = false, strict = false, allowSecond } = options
  if (demo && path !== undefined) {
    throw new CommandFailure(2, "option '--demo' cannot be used with option '--config'")
  }
  if (strict && !options.checkConfig) {
    throw new CommandFailure(2, "option '--strict' is for '--check-config'")
  }
  const name = demo ? 'the demo configuration' : (path ?? defaultConfig)
  const config = demo ? await readDemoText() : await readConfigText(path)
  const env: Environment =
    port === undefined ? process.env : { ...process.env, GATEWAY_SERVER__PORT: port }
  if (options.checkConfig) {
    return print((await check({ name, config, env, strict })).join('\n'))
  }
  await start({
    config,
    path: demo ? undefined : name,
    env,
    allowSecond,
    onListening: (address, { auth }) => {
      if (demo) void print(renderDemoIntro({ address, needsKey: auth.enabled }))
    },
  })
}

function unknownCommand(name: string, { commands }: Command): CommandFailure {
  const known = commands.flatMap((command) => [command.name(), ...command.aliases()])
  const nearest = nearestName(name, known)
  const hint = nearest === undefined ? 'see --help' : `did you mean '${nearest}'?`
  return new CommandFailure(2, `unknown command '${name}'; ${hint}`)
}

async function runHealth({ config }: { config?: string }): Promise<void> {
  await checkHealth(config, process.env)
}

/** The port as text, for the variable that overrides the setting. */
function parsePort(text: string): string {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port >= 1 && port <= 65_535) return String(port)
  throw new InvalidArgumentError('must be a whole number from 1 to 65535')
}

async function reportFailure(error: unknown): Promise<number> {
  // Help and version end here as well, with 0; commander itself has reported the rest.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof CommandFailure) {
    await printFailure(error.lines.join('\n'))
    return error.exitCode
  }
  await printFailure(`the gateway has failed: ${JSON.stringify(errorFields(error))}`)
  return 1
}
