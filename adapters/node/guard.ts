import type { Log } from '../../src/index.ts'

/**
 * Keeps the process alive through errors that nobody has caught, with a line in the log for each.
 * Requests share no state that one of them could leave half-changed, and each settles through one
 * idempotent step, so the rest is better off served on than cut by a restart. The line names the
 * class, the code and the place: messages may hold parameters.
 */
export function guardProcess(log: Log): void {
  process.on('uncaughtException', (error) => report(log, 'an error nobody caught', error))
  process.on('unhandledRejection', (error) => report(log, 'a rejection nobody caught', error))
}

/** What may be told of an error without telling its message. */
export function outline(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { error: typeof error }
  const { code } = error as NodeJS.ErrnoException
  return { error: error.name, code, at: placeOf(error) }
}

/** The innermost frame of the stack, which begins with the message, whatever that looks like. */
function placeOf({ stack = '', message }: Error): string | undefined {
  const start = stack.indexOf(message)
  if (start === -1) return undefined
  const frames = stack.slice(start + message.length).split('\n')
  return frames.find((line) => line.startsWith('    at '))?.trim()
}

function report(log: Log, message: string, error: unknown): void {
  log.write('error', message, outline(error))
}
