import { resolve as absolute } from 'node:path'
import { createGateway, type Environment, type Gateway, type Overview } from '../../src/index.ts'
import { CommandFailure } from './command-failure.ts'
import type { NodePorts } from './index.ts'
import { logLevel, logLevelRule } from './log.ts'
import { createPorts, openGateway } from './open-gateway.ts'
import { createStyle, type Style } from './output/style.ts'
import { type ListenInfo, renderStartLines, toLogFields } from './overview-text.ts'
import { nodeConfigFile } from './ports/config-file.ts'
import { startReloadTriggers } from './reload-triggers.ts'
import { type Serving, serve } from './serve.ts'
import { waitForStopSignal } from './stop-signal.ts'
import { logUncaughtErrors } from './uncaught-errors.ts'

export interface StartOptions {
  /** The text of the configuration, in TOML. */
  readonly config: string
  /** The configuration file, which is watched for changes; undefined for the demo. */
  readonly path?: string | undefined
  readonly env: Environment
  /** Starts even if another gateway uses the same database. */
  readonly allowSecond?: boolean | undefined
  /** Called when the gateway accepts connections. */
  readonly onListening?: ((address: string, overview: Overview) => void) | undefined
}

/** Serves a configuration until the process receives a signal to stop. Fails when usage is lost. */
export async function start(options: StartOptions): Promise<void> {
  if (!logLevel(options.env)) throw new CommandFailure(2, logLevelRule)
  // SIGHUP must not end the process before the gateway can reload.
  process.on('SIGHUP', () => {})
  const ports = createPorts(options.env)
  const isSaved = await serveUntilStopped(options, ports).finally(() => ports.close())
  if (!isSaved) {
    throw new CommandFailure(1, 'some usage could not be saved; the log says how much')
  }
}

/** Resolves to true when everything was saved. */
async function serveUntilStopped(
  { config, path, allowSecond, onListening = () => {} }: StartOptions,
  ports: NodePorts,
): Promise<boolean> {
  const configFile = path === undefined ? undefined : nodeConfigFile(path)
  const gateway = await openGateway(createGateway({ ...ports, config, configFile, allowSecond }))
  logUncaughtErrors(gateway.log)
  const stopped = waitForStopSignal()
  const serving = await listen(gateway).catch(async (error: unknown) => {
    await gateway.close()
    throw error
  })
  const { reload, refresh } = gateway
  const triggers = startReloadTriggers({ path, reload, refresh })
  // Print the log lines so far before the summary.
  await ports.flush()
  const { address } = serving
  const place = { address, file: path && absolute(path), proxies: ports.proxies }
  logStart(gateway, place, createStyle(ports.env))
  await ports.flush()
  onListening(address, gateway.overview)

  await stopped
  triggers.close()
  const closed = serving.close()
  void ports.flush()
  await closed
  return serving.isSaved
}

/** Reports the address and the providers: as text on a terminal, else as one log line. */
function logStart({ overview, log }: Gateway, place: ListenInfo, style: Style): void {
  if (process.stdout.isTTY === true && overview.logFormat === 'pretty') {
    process.stdout.write(`${renderStartLines(overview, { ...place, style }).join('\n')}\n`)
  } else {
    log.write('info', 'listening', { ...place, ...toLogFields(overview) })
  }
}

async function listen(gateway: Gateway): Promise<Serving> {
  try {
    return await serve(gateway)
  } catch (error) {
    const { host, port } = gateway.settings
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    throw new CommandFailure(1, `cannot listen on ${host}:${port}: ${reasons[code] ?? code}`)
  }
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use; stop the other process or change server.port',
  EADDRNOTAVAIL: 'this machine does not have that address; check server.host',
  EACCES: 'permission denied; ports below 1024 usually require root',
  ENOTFOUND: 'the host name cannot be resolved; check server.host',
}
