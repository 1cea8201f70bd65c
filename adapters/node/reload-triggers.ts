import type { Clock } from '../../src/index.ts'
import { FileWatcher } from './file-watcher.ts'
import { systemClock } from './ports/system.ts'

export interface ReloadTriggerOptions {
  /** The configuration file; without one there is nothing to watch. */
  readonly path: string | undefined
  /** Serves what the file says now. Must not reject. */
  readonly reload: () => Promise<unknown>
  /** Does so if the file is another one than before. Must not reject. */
  readonly refresh: () => Promise<unknown>
  readonly clock?: Clock | undefined
}

export interface ReloadTriggers {
  close(): void
}

/** Reloads at SIGHUP, and whenever the configuration file changes. */
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

/** Calls during a run are one more run after it, however many they are. */
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
