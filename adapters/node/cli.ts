import { Command, CommanderError } from 'commander'
import { version } from '../../src/index.ts'
import { CommandFailure, describeUnexpected } from './command-failure.ts'
import { addBackupCommand } from './commands/backup.ts'
import { addCompletionCommand } from './commands/completion.ts'
import { addConfigCommand } from './commands/config.ts'
import { addConsoleCommand } from './commands/console.ts'
import { addExplainCommand } from './commands/explain.ts'
import { addGroupsCommand } from './commands/groups.ts'
import { addHealthCommand } from './commands/health.ts'
import { addImportCommand } from './commands/import.ts'
import { addInitCommand } from './commands/init.ts'
import { addKeysCommand } from './commands/keys.ts'
import { addMasterKeyCommand } from './commands/master-key.ts'
import { addPricesCommand } from './commands/prices.ts'
import { addSchemaCommand } from './commands/schema.ts'
import { addServeCommand, usageHint } from './commands/serve.ts'
import { addUsageCommand } from './commands/usage.ts'
import { openNodeStore } from './ports/store.ts'
import { printFailure } from './print.ts'

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
  addInitCommand(root)
  addConfigCommand(root)
  addSchemaCommand(root)
  addHealthCommand(root)
  addKeysCommand(root)
  addGroupsCommand(root)
  addUsageCommand(root)
  addPricesCommand(root)
  addImportCommand(root)
  addBackupCommand(root)
  addMasterKeyCommand(root, openNodeStore)
  addConsoleCommand(root)
  addExplainCommand(root)
  addCompletionCommand(root)
  return root
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
