import type { WriteStream } from 'node:tty'
import type { Millis } from '../../../src/core/ids.ts'

/** How long an exiting process waits for a slow or stuck reader, in milliseconds. */
export const flushTimeout: Millis = 250

/** Prints a text on standard output. Resolves when the reader has received all of it or has left. */
export function print(text: string): Promise<void> {
  return writeLine(process.stdout, text)
}

/**
 * Prints an error on standard error. Resolves when the reader has received it, or after 250 ms: a
 * paused terminal must not keep the process from exiting.
 */
export async function printFailure(text: string): Promise<void> {
  if (process.stderr.isTTY) setNonBlocking(process.stderr)
  const limit = new Promise((resolve) => setTimeout(resolve, flushTimeout))
  await Promise.race([writeLine(process.stderr, text), limit])
}

/** Prints on standard error what is not part of the result: where it came from, or a warning. */
export function printNote(text: string): Promise<void> {
  return printFailure(text)
}

function writeLine(output: WriteStream, text: string): Promise<void> {
  ignoreWriteErrors(output)
  return new Promise((resolve) => output.write(`${text}\n`, () => resolve()))
}

/** Keeps the process alive when the reader of an output leaves. */
export function ignoreWriteErrors(output: WriteStream): void {
  if (!output.listeners('error').includes(ignore)) output.on('error', ignore)
}

function ignore(): void {}

/**
 * Makes writes to a terminal asynchronous. By default Node.js writes to terminals synchronously, so one
 * paused with Ctrl-S would block the process.
 */
export function setNonBlocking(terminal: WriteStream): void {
  // Node.js has no public API for this.
  const { _handle: handle } = terminal as { _handle?: { setBlocking?(value: boolean): void } }
  handle?.setBlocking?.(false)
}
