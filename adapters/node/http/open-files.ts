import { closeSync, openSync } from 'node:fs'
import type { Server } from 'node:http'
import { devNull } from 'node:os'
import type { Warn } from './warn-per-burst.ts'

/** How often a file is opened to see whether that is possible, in milliseconds. */
const interval = 1_000

/**
 * Warns when the process may open no more files. The system then cannot give a new connection to a
 * server, and Node closes it without an error: nothing but a file that cannot be opened shows it.
 */
export function watchOpenFiles(server: Server, warn: Warn): void {
  const timer = setInterval(() => {
    const code = tryOpen(devNull)
    if (code !== 'EMFILE' && code !== 'ENFILE') return
    warn(
      'no more files can be opened, so new connections are closed at once; ' +
        'raise the limit of open files (ulimit -n, LimitNOFILE)',
      { code },
    )
  }, interval).unref()
  server.once('close', () => clearInterval(timer))
}

function tryOpen(path: string): string | undefined {
  try {
    closeSync(openSync(path, 'r'))
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
}
