import { type Command, InvalidArgumentError } from 'commander'
import { addAdminOptions, findRunningGateway, type RunningGateway } from '../admin/client.ts'
import { startDemo } from '../console/demo.ts'
import { serveConsole } from '../console/server.ts'
import { CommandFailure } from '../failures/command-failure.ts'
import { waitForStopSignal } from '../host/stop-signal.ts'
import { print } from '../process/print.ts'

/** Adds `console`, which serves a local page about a running gateway. */
export function addConsoleCommand(root: Command): void {
  addAdminOptions(root.command('console'))
    .description('serve a local page that shows the running gateway and manages its keys')
    .option('--port <number>', `port of the page, on the loopback interface`, parsePort, 8090)
    .option('--demo', 'start a demo gateway with some requests, and show that')
    .addHelpText(
      'after',
      '\nExamples:\n  gateway console -c gateway.toml\n  gateway console --demo',
    )
    .action((options: ConsoleOptions, command: Command) => runConsole(options, command))
}

interface ConsoleOptions {
  readonly port: number
  readonly demo?: boolean
}

async function runConsole({ port, demo = false }: ConsoleOptions, command: Command): Promise<void> {
  const stopped = waitForStopSignal()
  if (!demo) return showConsole(await findRunningGateway(command), { port, stopped })
  const gateway = await startDemo()
  await showConsole(gateway, { port, stopped }).finally(() => gateway.close())
}

interface Show {
  readonly port: number
  readonly stopped: Promise<void>
}

/** Serves the console until the process receives a signal to stop. */
async function showConsole(gateway: RunningGateway, { port, stopped }: Show): Promise<void> {
  const { address, masterKey } = gateway
  // The build puts the page beside the code.
  const folder = new URL('./console/', import.meta.url)
  const served = await serveConsole({ gateway: address, masterKey, port, folder }).catch(
    (error: unknown) => {
      throw toFailure(error, port)
    },
  )
  await print(`Console of ${address}; Ctrl+C ends it.\n${served.link}`)
  await stopped
  await served.close()
}

function toFailure(error: unknown, port: number): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new CommandFailure(1, `port ${port} is in use; choose another one with --port`)
    case 'EACCES':
      return new CommandFailure(
        1,
        `port ${port}: permission denied; choose another one with --port`,
      )
    case 'ENOENT':
      return new CommandFailure(1, 'the page of the console is missing from this installation')
    default:
      return error
  }
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw new InvalidArgumentError('must be a whole number from 0 to 65535; 0 picks a free port')
}
