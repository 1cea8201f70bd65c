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
import { addMasterKeyCommand } from './master-key-command.ts'
import { openNodeStore } from './ports/store.ts'
import { print, printFailure } from './print.ts'
import { start } from './start.ts'

/**
 * Runs a command line, given without the names of executable and script. Resolves with the exit code:
 * 0 for success, 1 for a failure at run time, 2 for bad usage or configuration.
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
    // Subcommands inherit these settings only if they are made first.
    .exitOverride()
    .showHelpAfterError(usageHint)
    .enablePositionalOptions()
    .version(version, '-v, --version', 'print the version')
    .addHelpText('after', notes)
    .allowExcessArguments()
    .action((_: unknown, command: Command) => runServe(command))
  addServeOptions(root)
  const serve = root
    .command('serve')
    .alias('start')
    .description('start the gateway (the default command)')
    .addHelpText('after', '\nExample:\n  gateway serve --config gateway.toml --port 9090')
    .action((_: unknown, command: Command) => runServe(command))
  addServeOptions(serve)
  root
    .command('health')
    .description('check that the running gateway is healthy')
    .option(...configOption)
    .addHelpText(
      'after',
      '\nExample:\n  gateway health --config gateway.toml || systemctl restart gateway',
    )
    .action(runHealth)
  addKeysCommand(root, openNodeStore)
  addMasterKeyCommand(root, openNodeStore)
  return root
}

function addServeOptions(command: Command): void {
  command
    .option(...configOption)
    .option('--port <number>', 'port to listen on (overrides server.port)', parsePort)
    .option('--demo', 'serve the demo configuration, which needs no key and no network')
    .option('--allow-second', 'start even if another gateway uses the same database')
    .option('--check-config', 'validate the configuration, print its providers, and exit')
    .option('--strict', 'with --check-config: exit with 2 if a key is missing or unusable')
}

const usageHint = "run 'gateway --help' for usage"

const notes = `
Examples:
  gateway --demo                         try it without a key or a network
  gateway --config gateway.toml          serve a configuration file
  gateway --check-config --strict        validate config.toml and the keys it names

Environment:
  GATEWAY_LOG_LEVEL            debug, info (default), warn or error
  GATEWAY_MASTER_KEY           64 hex digits, required when auth is enabled
  GATEWAY_DB_AUTH_TOKEN        access token of a remote database
  GATEWAY_<SECTION>__<KEY>     overrides a setting, for example GATEWAY_SERVER__PORT=9090
  NO_COLOR                     turns off colors in the log

Exit codes: 0 success, 1 failure at run time, 2 bad usage or configuration.
SIGTERM and SIGINT stop the gateway; running requests get up to 30 s to finish, and a second
signal ends the process at once. SIGHUP reloads the configuration.`

async function runServe(command: Command): Promise<void> {
  const [unknown] = command.args
  if (unknown !== undefined) throw unknownCommand(unknown, command)
  // Options may come before or after the word `serve`.
  const options: ServeOptions = { ...command.optsWithGlobals(), ...command.opts() }
  const { config: path, port, demo = false, strict = false, allowSecond } = options
  if (demo && path !== undefined) {
    throw new CommandFailure(2, "option '--demo' cannot be used with option '--config'")
  }
  if (strict && !options.checkConfig) {
    throw new CommandFailure(2, "option '--strict' requires option '--check-config'")
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
  const hint = nearest === undefined ? usageHint : `did you mean '${nearest}'?`
  return new CommandFailure(2, `unknown command '${name}'; ${hint}`)
}

async function runHealth({ config }: { config?: string }): Promise<void> {
  await checkHealth(config, process.env)
}

/** Validates a port and returns it as text, for the variable that overrides the setting. */
function parsePort(text: string): string {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port >= 1 && port <= 65_535) return String(port)
  throw new InvalidArgumentError('must be a whole number from 1 to 65535')
}

async function reportFailure(error: unknown): Promise<number> {
  // Help and version also end here, with code 0. Commander has already printed its own errors.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof CommandFailure) {
    await printFailure(error.lines.join('\n'))
    return error.exitCode
  }
  await printFailure(`unexpected error: ${JSON.stringify(errorFields(error))}`)
  return 1
}
