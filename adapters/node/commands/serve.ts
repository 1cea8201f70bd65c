import { type Command, InvalidArgumentError } from 'commander'
import { configOption } from '../config/config-text.ts'

/** Adds `serve` with its alias `start`, and lets the root command do the same. */
export function addServeCommand(root: Command): void {
  root.allowExcessArguments().action((_: unknown, command: Command) => loadAndServe(command))
  addOptions(root)
  const serve = root
    .command('serve')
    .alias('start')
    .description('start the gateway (the default command)')
    .addHelpText('after', '\nExample:\n  gateway serve --config gateway.toml --port 9090')
    .action((_: unknown, command: Command) => loadAndServe(command))
  addOptions(serve)
}

function addOptions(command: Command): void {
  command
    .option(...configOption)
    .option('--port <number>', 'port to listen on (overrides server.port)', parsePort)
    .option('--demo', 'serve the demo configuration, which needs no key and no network')
    .option('--auto', 'without a file, serve a provider for every well-known key that is set')
    .option('--allow-second', 'start even if another gateway uses the same database')
    .option('--check-config', 'validate the configuration, print its providers, and exit')
    .option('--strict', 'with --check-config: exit with 2 if a key is missing or unusable')
}

/** Loads the gateway only now: most other commands, and the help, do without it. */
async function loadAndServe(command: Command): Promise<void> {
  const { runServe } = await import('./run-serve.ts')
  await runServe(command)
}

/** Validates a port and returns it as text, for the variable that overrides the setting. */
function parsePort(text: string): string {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port >= 1 && port <= 65_535) return String(port)
  throw new InvalidArgumentError('must be a whole number from 1 to 65535')
}
