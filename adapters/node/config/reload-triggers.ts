import type { Clock } from '../../../src/index.ts'
import { systemClock } from '../process/system.ts'
import { FileWatcher } from './file-watcher.ts'

export interface ReloadTriggerOptions {
  /** The configuration file to watch; undefined watches nothing. */
  readonly path: string | undefined
  /** Reloads the file. Must not reject. */
  readonly reload: () => Promise<unknown>
  /** Reloads the file if its content has changed. Must not reject. */
  readonly refresh: () => Promise<unknown>
  readonly clock?: Clock | undefined
}

export interface ReloadTriggers {
  close(): void
}

/** Starts to reload on SIGHUP and on every change of the configuration file. */
export function startReloadTriggers(options: ReloadTriggerOptions): ReloadTriggers {
  const { path, reload, refresh, clock = systemClock } = options
  const hangUp = coalesceRuns(reload)
  process.on('SIGHUP', hangUp)
  const watch =
    path === undefined
      ? undefined
      : new FileWatcher({ path, clock, onChange: coalesceRuns(refresh) })
  return {
    close() {
      process.off('SIGHUP', hangUp)
      watch?.close()
    },
  }
}

/** Returns a function that runs one at a time; any number of calls during a run cause one more run. */
function coalesceRuns(run: () => Promise<unknown>): () => void {
  let isRunning = false
  let isDue = false
  return async function start() {
    isDue = isRunning
    if (isRunning) return
    isRunning = true
    try {
      await run()
    } finally {
      isRunning = false
      if (isDue) void start()
    }
  }
}
