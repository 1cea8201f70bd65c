import { availableParallelism } from 'node:os'
import { resolve as absolute } from 'node:path'
import { readServerSettings } from '../../../src/config/index.ts'
import { createGateway, type Gateway } from '../../../src/index.ts'
import { startReloadTriggers } from '../config/reload-triggers.ts'
import { CommandFailure } from '../failures/command-failure.ts'
import { releaseIdleMemory } from '../host/idle-memory.ts'
import { toListenFailure } from '../host/listen.ts'
import { logStart, logStopped } from '../host/log-start.ts'
import type { NodePorts } from '../host/node-ports.ts'
import { createPorts, openGateway } from '../host/open-gateway.ts'
import { type Serving, serve } from '../host/serve.ts'
import { type StartOptions, unsavedUsage } from '../host/start-options.ts'
import { waitForStopSignal } from '../host/stop-signal.ts'
import { logLevel, logLevelRule } from '../log/log.ts'
import { nodeConfigFile } from '../ports/config-file.ts'
import { logUncaughtErrors } from '../process/uncaught-errors.ts'

/** Serves a configuration until the process receives a signal to stop. Fails when usage is lost. */
export async function start(options: StartOptions): Promise<void> {
  if (!logLevel(options.env)) throw new CommandFailure(2, logLevelRule)
  // SIGHUP must not end the process before the gateway can reload.
  process.on('SIGHUP', () => {})
  const { workers } = readServerSettings(options.config, options.env)
  const count = workers === 'auto' ? availableParallelism() : workers
  if (count > 1) {
    const { startWorkers } = await import('../workers/primary.ts')
    return startWorkers(options, count)
  }
  const ports = createPorts(options.env)
  const isSaved = await serveUntilStopped(options, ports).finally(() => ports.close())
  if (!isSaved) throw new CommandFailure(1, unsavedUsage)
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
  const idleMemory = releaseIdleMemory({ serving })
  // Print the log lines so far before the summary.
  await ports.flush()
  const { address } = serving
  const place = { address, file: path && absolute(path), proxies: ports.proxies }
  logStart({ ...gateway, env: ports.env }, place)
  await ports.flush()
  onListening(address, gateway.overview)

  await stopped
  triggers.close()
  idleMemory.close()
  const closed = serving.close()
  void ports.flush()
  await closed
  logStopped(gateway.log, serving)
  return serving.isSaved
}

async function listen(gateway: Gateway): Promise<Serving> {
  try {
    return await serve(gateway)
  } catch (error) {
    throw toListenFailure(error, gateway.settings)
  }
}
