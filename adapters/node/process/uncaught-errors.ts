import { errorFields } from '../../../src/core/error-fields.ts'
import type { Log } from '../../../src/index.ts'

/**
 * Logs uncaught errors and keeps the process alive. Requests share no state that one of them could
 * leave half-changed, and each settles in one idempotent step, so the other requests can go on. A
 * line has the class, the code and the location of an error, not its message, which may contain
 * parameters.
 */
export function logUncaughtErrors(log: Log): void {
  process.on('uncaughtException', (error) => report(log, 'uncaught error', error))
  process.on('unhandledRejection', (error) => report(log, 'unhandled rejection', error))
}

function report(log: Log, message: string, error: unknown): void {
  log.write('error', message, errorFields(error))
}
