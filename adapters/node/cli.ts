import { Command, CommanderError } from 'commander'
import { version } from '../../src/core/version.ts'
import { addServeCommand } from './commands/serve.ts'
import { CommandFailure, describeUnexpected, usageHint } from './failures/command-failure.ts'
import { printFailure } from './process/print.ts'

/**
 * Runs a command line, given without the names of executable and script. Resolves with the exit code:
 * 0 for success, 1 for a failure at run time, 2 for bad usage or configuration.
 */
export async function run(args: readonly string[]): Promise<number> {
  try {
    const program = createProgram()
    const names = findOtherCommands(args)
    if (names !== undefined) {
      const { addOtherCommands } = await import('./commands/index.ts')
      await addOtherCommands(program, names.includes('completion') ? undefined : names)
    }
    await program.parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    return await reportFailure(error)
  }
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
  addServeCommand(root)
  return root
}

/**
 * Returns the words of a command line that may name a command; undefined for one that only serves, which does not
 * load the other commands. Throws what parsing throws.
 */
function findOtherCommands(args: readonly string[]): readonly string[] | undefined {
  // The options after another command are its own. A program keeps what it has parsed, so this is a new one.
  const program = createProgram().passThroughOptions()
  const { operands, unknown } = program.parseOptions([...args])
  const [name] = operands
  if (name === undefined) return unknown.length > 0 ? [] : undefined
  const served = program.commands.flatMap((command) => [command.name(), ...command.aliases()])
  if (served.includes(name)) return undefined
  // `help` is followed by the command that it is about.
  return name === 'help' ? operands.slice(0, 2) : [name]
}

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
  PORT                         the port, if neither the file nor such a variable sets it
  NO_COLOR                     turns off colors

Exit codes: 0 success, 1 failure at run time, 2 bad usage or configuration.
SIGTERM and SIGINT stop the gateway; running requests get up to 30 s to finish, and a second
signal ends the process at once. SIGHUP reloads the configuration.`

async function reportFailure(error: unknown): Promise<number> {
  // Help and version also end here, with code 0. Commander has already printed its own errors.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof CommandFailure) {
    await printFailure(error.lines.join('\n'))
    return error.exitCode
  }
  await printFailure(describeUnexpected(error))
  return 1
}
