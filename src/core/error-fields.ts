/**
 * What may be logged of an unexpected error: its class, its code and the place it comes from. Never
 * its message, which may hold parameters, addresses or the client's own text.
 */
export function errorFields(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { error: typeof error }
  const { code } = error as { code?: unknown }
  return {
    error: error.name,
    code: typeof code === 'string' ? code : undefined,
    at: placeOf(error),
  }
}

/** The innermost frame of the stack, which begins with the message, whatever that looks like. */
function placeOf({ stack = '', message }: Error): string | undefined {
  const start = stack.indexOf(message)
  if (start === -1) return undefined
  const frames = stack.slice(start + message.length).split('\n')
  return frames.find((line) => line.startsWith('    at '))?.trim()
}
