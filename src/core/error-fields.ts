/**
 * The fields of an unexpected error that are safe to log: its class, its code and where it was
 * thrown. Never its message, which may contain parameters, addresses or text of the client.
 */
export function errorFields(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { error: typeof error }
  const { code } = error as { code?: unknown }
  return {
    error: error.name,
    code: typeof code === 'string' ? code : undefined,
    at: innermostFrame(error),
  }
}

/** The code of a system error, ready to append: ` (ENOENT)`. Its message would reveal the path. */
export function formatSystemCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? ` (${code})` : ''
}

/** The first frame of the stack. The stack begins with the message, which may look like a frame. */
function innermostFrame({ stack = '', message }: Error): string | undefined {
  const start = stack.indexOf(message)
  if (start === -1) return undefined
  const frames = stack.slice(start + message.length).split('\n')
  return frames.find((line) => line.startsWith('    at '))?.trim()
}
