import { createServer } from 'node:net'
import { resolve as absolute } from 'node:path'
import { loadConfig, readServerSettings } from '../../../src/config/index.ts'
import { kinds } from '../../../src/providers/index.ts'
import { type ReloadTriggers, startReloadTriggers } from '../config/reload-triggers.ts'
import { CommandFailure } from '../failures/command-failure.ts'
import { toConfigFailure } from '../failures/config-failure.ts'
import { formatAddress, listen, toListenFailure } from '../host/listen.ts'
import { logStart, logStopped } from '../host/log-start.ts'
import { type StartOptions, unsavedUsage } from '../host/start-options.ts'
import { waitForStopSignal } from '../host/stop-signal.ts'
import { AddressLimit } from '../http/address-limit.ts'
import { hostLimits } from '../http/limits.ts'
import { warnPerBurst } from '../http/warn-per-burst.ts'
import { logLevel, type NodeLog, nodeLog } from '../log/log.ts'
import { outputDelay } from '../log/log-output.ts'
import { wantsColors } from '../output/style.ts'
import { readText } from '../process/system.ts'
import { logUncaughtErrors } from '../process/uncaught-errors.ts'
import { ConnectionDealer } from './connection-dealer.ts'
import { WorkerPool } from './worker-pool.ts'

/** How long the workers may take to stop, without the drain delay, in milliseconds. */
const stopTimeout = 36_000

/**
 * Serves a configuration with several workers until the process receives a signal to stop. This process
 * serves no request: it has the port, the log and the signals.
 */
export async function startWorkers(options: StartOptions, count: number): Promise<void> {
  const { env } = options
  const level = logLevel(env) ?? 'info'
  const format = await readLogFormat(options)
  const log = nodeLog({ format, level, colors: wantsColors(env) })
  logUncaughtErrors(log)
  try {
    await serveUntilStopped(options, { count, log })
  } finally {
    await log.flush()
  }
}

/** Fails when the configuration is invalid. */
async function readLogFormat({ config: text, path, env }: StartOptions) {
  const loaded = await loadConfig({ text, env, kinds, readFile: readText })
  if (!loaded.ok) throw toConfigFailure(loaded.problems, path)
  return loaded.config.log_format
}

interface Crew {
  readonly count: number
  readonly log: NodeLog
}

async function serveUntilStopped(options: StartOptions, { count, log }: Crew): Promise<void> {
  const { config, path, env, allowSecond } = options
  const warn = warnPerBurst(log)
  let settings = readServerSettings(config, env)
  let fail: (failure: CommandFailure) => void = () => {}
  const failed = new Promise<never>((_, reject) => {
    fail = reject
  })
  failed.catch(() => {})
  const dealer = new ConnectionDealer({
    addresses: new AddressLimit({
      maxPerAddress: () => settings.max_connections_per_address,
      warn,
    }),
    maxWaiting: hostLimits.maxConnections,
    onStopped() {
      server.close()
      dealer.close()
    },
  })
  const server = createServer({ pauseOnConnect: true }, (socket) => dealer.add(socket))
  const pool = new WorkerPool({
    start: {
      count,
      config,
      path,
      env,
      allowSecond,
      log: { colors: wantsColors(env), delay: process.stdout.isTTY ? 0 : outputDelay },
    },
    log,
    dealer,
    onConfig(text) {
      settings = readServerSettings(text, env)
    },
    onFailure: (failure) => fail(failure),
  })
  // Also at a second signal, which ends this process at once.
  process.on('exit', () => pool.kill())
  const stopped = waitForStopSignal()
  const { reload, refresh } = pool
  let triggers: ReloadTriggers | undefined

  const open = async () => {
    const { overview, proxies } = await pool.startFirst()
    await listen(server, settings).catch((error: unknown) => {
      throw toListenFailure(error, settings)
    })
    server.on('error', ({ code }: NodeJS.ErrnoException) =>
      warn('failed to accept a connection', { code }),
    )
    await pool.startOthers()
    triggers = startReloadTriggers({ path, reload, refresh })
    const address = formatAddress(server)
    const place = { address, file: path && absolute(path), workers: count, proxies }
    // Print the log lines so far before the summary.
    await log.flush()
    logStart({ overview, log, env }, place)
    await log.flush()
    options.onListening?.(address, overview)
  }
  try {
    await Promise.race([open(), stopped])
    await Promise.race([stopped, failed])
  } catch (error) {
    await pool.abort()
    throw error
  } finally {
    triggers?.close()
  }
  const isSaved = await pool.stop(settings.drain_delay_ms + stopTimeout)
  logStopped(log, { isSaved })
  if (!isSaved) throw new CommandFailure(1, unsavedUsage)
}
