import { closeSync, openSync } from 'node:fs'
import type { Server } from 'node:http'
import { devNull } from 'node:os'
import type { Warn } from './warn-per-burst.ts'

/** How often to check that a file can be opened, in milliseconds. */
const interval = 1_000

/**
 * Warns when the process has reached its limit of open files. Node then closes new connections without
 * an error event, so opening a file is the only way to notice.
 */
export function watchOpenFiles(server: Server, warn: Warn): void {
  const timer = setInterval(() => {
    const code = tryOpen(devNull)
    if (code !== 'EMFILE' && code !== 'ENFILE') return
    warn(
      'open file limit reached, new connections are closed at once; ' +
        'raise the limit (ulimit -n, LimitNOFILE)',
      { code },
    )
  }, interval).unref()
  server.once('close', () => clearInterval(timer))
}

/** Returns the code of the error, or undefined when the file can be opened. */
function tryOpen(path: string): string | undefined {
  try {
    closeSync(openSync(path, 'r'))
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
}
