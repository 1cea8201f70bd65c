import { createGateway } from '../../../src/index.ts'
import { CommandFailure, describeUnexpected } from '../failures/command-failure.ts'
import { exit } from '../host/exit.ts'
import { releaseIdleMemory } from '../host/idle-memory.ts'
import { openNodePorts } from '../host/node-ports.ts'
import { createPorts, openGateway } from '../host/open-gateway.ts'
import { type Serving, serveOn } from '../host/serve.ts'
import { hostLimits } from '../http/limits.ts'
import { warnPerBurst } from '../http/warn-per-burst.ts'
import { logLevel } from '../log/log.ts'
import { nodeConfigFile } from '../ports/config-file.ts'
import { logUncaughtErrors } from '../process/uncaught-errors.ts'
import { acceptConnections } from './accept.ts'
import type { Channel } from './channel.ts'
import type { FromPrimary, FromWorker, WorkerStart } from './messages.ts'
import { createWorkersPort } from './port.ts'
import { openWorkerLog } from './worker-log.ts'

type PrimaryChannel = Channel<FromWorker, FromPrimary>

/** Serves until the primary process stops this one or ends, then ends the process. */
export async function runWorker(channel: PrimaryChannel, start: WorkerStart): Promise<never> {
  const stopped = new Promise<void>((resolve) => {
    channel.onNotice('stop', () => resolve())
    process.on('disconnect', () => resolve())
  })
  try {
    return await exit((await serveUntil(stopped, channel, start)) ? 0 : 1)
  } catch (error) {
    const { exitCode, lines } = toFailure(error)
    await new Promise<void>((resolve) => {
      channel.notify('failed', { exitCode, lines }, () => resolve())
    })
    return await exit(exitCode)
  }
}

function toFailure(error: unknown): CommandFailure {
  if (error instanceof CommandFailure) return error
  return new CommandFailure(1, describeUnexpected(error))
}

/** Resolves to true when everything was saved. */
async function serveUntil(
  stopped: Promise<void>,
  channel: PrimaryChannel,
  start: WorkerStart,
): Promise<boolean> {
  const { config, path, env, allowSecond, logsStart } = start
  let hasStarted = false
  const level = logLevel(env) ?? 'info'
  const isSpeaking = () => hasStarted || logsStart
  const ports = createPorts(env, () =>
    openNodePorts(env, (format) => openWorkerLog({ channel, start, format, level, isSpeaking })),
  )
  const gateway = await openGateway(
    createGateway({
      ...ports,
      config,
      configFile: path === undefined ? undefined : nodeConfigFile(path),
      allowSecond,
      workers: createWorkersPort(channel, start),
    }),
  )
  logUncaughtErrors(gateway.log)
  channel.onCall('reload', () => gateway.reload())
  channel.onCall('refresh', () => gateway.refresh())
  const serving: Serving = await serveOn({
    gateway,
    limits: { maxConnections: Math.ceil(hostLimits.maxConnections / start.count) },
    // The primary process counts those of all workers.
    addresses: undefined,
    warn: warnPerBurst(gateway.log),
    async open(server) {
      acceptConnections(server, channel)
      return ''
    },
  })
  const idleMemory = releaseIdleMemory({ serving })
  hasStarted = true
  await ports.flush()
  channel.notify('started', { overview: gateway.overview, proxies: ports.proxies })

  await stopped
  idleMemory.close()
  const closed = serving.close()
  void ports.flush()
  await closed
  await ports.close()
  return serving.isSaved
}
