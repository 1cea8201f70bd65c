import { errorFields } from '../../src/core/error-fields.ts'
import type { Log } from '../../src/index.ts'

/**
 * Keeps the process alive through errors that nobody has caught, with a line in the log for each.
 * Requests share no state that one of them could leave half-changed, and each settles through one
 * idempotent step, so the rest is better off served on than cut by a restart. The line names the
 * class, the code and the place: messages may hold parameters.
 */
export function logUncaughtErrors(log: Log): void {
  process.on('uncaughtException', (error) => report(log, 'an error nobody caught', error))
  process.on('unhandledRejection', (error) => report(log, 'a rejection nobody caught', error))
}

function report(log: Log, message: string, error: unknown): void {
  log.write('error', message, errorFields(error))
}
