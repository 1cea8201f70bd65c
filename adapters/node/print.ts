import type { WriteStream } from 'node:tty'
import type { Millis } from '../../src/core/ids.ts'

/** How long an ending process waits for a slow or stuck reader. */
export const flushTimeout: Millis = 250

/** Prints a text on standard output. Resolves when its reader has taken all of it, or has gone away. */
export function print(text: string): Promise<void> {
  return writeLine(process.stdout, text)
}

/**
 * Prints the reason of a failure on standard error. Resolves when its reader has taken the text, but
 * after 250 ms at the latest: a paused terminal must not keep the process from ending.
 */
export async function printFailure(text: string): Promise<void> {
  if (process.stderr.isTTY) setNonBlocking(process.stderr)
  const limit = new Promise((resolve) => setTimeout(resolve, flushTimeout))
  await Promise.race([writeLine(process.stderr, text), limit])
}

function writeLine(output: WriteStream, text: string): Promise<void> {
  ignoreWriteErrors(output)
  return new Promise((resolve) => output.write(`${text}\n`, () => resolve()))
}

/** A reader that has gone away must not end the process. */
export function ignoreWriteErrors(output: WriteStream): void {
  if (!output.listeners('error').includes(ignore)) output.on('error', ignore)
}

function ignore(): void {}

/** Node writes to terminals synchronously: one that is paused with Ctrl-S would pause the process. */
export function setNonBlocking(terminal: WriteStream): void {
  // Node has no public name for it.
  const { _handle: handle } = terminal as { _handle?: { setBlocking?(value: boolean): void } }
  handle?.setBlocking?.(false)
}
