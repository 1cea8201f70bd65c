import type { WriteStream } from 'node:tty'
import type { Millis } from '../../../src/core/ids.ts'

const second: Millis = 1_000

/**
 * Waits for `work`. When that takes longer than a second and `terminal` is one, a line there says what runs
 * and for how long; it disappears at the end.
 */
export async function withProgress<Result>(
  what: string,
  work: Promise<Result>,
  terminal: Pick<WriteStream, 'isTTY' | 'write'> = process.stderr,
): Promise<Result> {
  if (!terminal.isTTY) return work
  let seconds = 0
  const timer = setInterval(() => {
    terminal.write(`${toLineStart}${what} … ${++seconds} s`)
  }, second)
  try {
    return await work
  } finally {
    clearInterval(timer)
    if (seconds > 0) terminal.write(toLineStart)
  }
}

/** Moves the cursor to the start of its line, and clears the line. */
const toLineStart = '\r\u001B[2K'
