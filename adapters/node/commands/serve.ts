import { type Command, InvalidArgumentError } from 'commander'
import { nearestName } from '../../../src/core/nearest-name.ts'
import type { Environment } from '../../../src/index.ts'
import { check } from '../check.ts'
import { CommandFailure } from '../command-failure.ts'
import { configOption, defaultConfig, readConfigText, readDemoText } from '../config-text.ts'
import { renderDemoIntro } from '../demo-intro.ts'
import { print } from '../print.ts'
import { start } from '../start.ts'

/** Adds `serve` with its alias `start`, and lets the root command do the same. */
export function addServeCommand(root: Command): void {
  root.allowExcessArguments().action((_: unknown, command: Command) => runServe(command))
  addOptions(root)
  const serve = root
    .command('serve')
    .alias('start')
    .description('start the gateway (the default command)')
    .addHelpText('after', '\nExample:\n  gateway serve --config gateway.toml --port 9090')
    .action((_: unknown, command: Command) => runServe(command))
  addOptions(serve)
}

/** The end of a message about bad usage. */
export const usageHint = "run 'gateway --help' for usage"

interface ServeOptions {
  readonly config?: string
  readonly port?: string
  readonly checkConfig?: boolean
  readonly strict?: boolean
  readonly demo?: boolean
  readonly allowSecond?: boolean
}

function addOptions(command: Command): void {
  command
    .option(...configOption)
    .option('--port <number>', 'port to listen on (overrides server.port)', parsePort)
    .option('--demo', 'serve the demo configuration, which needs no key and no network')
    .option('--allow-second', 'start even if another gateway uses the same database')
    .option('--check-config', 'validate the configuration, print its providers, and exit')
    .option('--strict', 'with --check-config: exit with 2 if a key is missing or unusable')
}

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

/** Validates a port and returns it as text, for the variable that overrides the setting. */
function parsePort(text: string): string {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port >= 1 && port <= 65_535) return String(port)
  throw new InvalidArgumentError('must be a whole number from 1 to 65535')
}
