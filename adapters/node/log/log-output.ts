import { fstatSync, write } from 'node:fs'
import type { Millis } from '../../../src/core/ids.ts'
import { flushTimeout, ignoreWriteErrors, setNonBlocking } from '../process/print.ts'

/** The destination of log lines. Takes one write at a time and never blocks the thread. */
export interface LogOutput {
  /** How long a line may wait so that several lines share one write, in milliseconds. */
  readonly delay: Millis
  /** Writes a text and calls `done` once, with an error if any of the text is lost. */
  write(text: string, done: (error?: Error | null) => void): void
}

/** Waiting lines are written without delay once they have this many characters. */
const minChunkLength = 65_536
/** Maximum number of characters that wait for a slow or stuck reader. */
const maxWaitingLength = 8 * 1024 * 1024

export interface LineWriter {
  /** Adds one line or several. */
  add(lines: string): void
  /** Resolves when the waiting lines are written, or after 250 ms. Never rejects. */
  flush(): Promise<void>
}

/**
 * Collects lines and writes many at a time. When the reader does not keep up, it drops and counts the
 * newest lines; `lost` formats the line that reports them after the next successful write.
 */
export function createLineWriter(output: LogOutput, lost: (lines: number) => string): LineWriter {
  let waiting = ''
  let dropped = 0
  let isWriting = false
  let timer: NodeJS.Timeout | undefined
  let flushed: (() => void)[] = []

  const pass = () => {
    clearTimeout(timer)
    timer = undefined
    if (isWriting) return
    const text = waiting
    const waiters = flushed
    waiting = ''
    flushed = []
    if (text === '') return waiters.forEach((resolve) => resolve())
    isWriting = true
    output.write(text, (error) => {
      isWriting = false
      if (error) dropped += countLines(text)
      else report()
      for (const resolve of waiters) resolve()
      if (waiting !== '' || flushed.length > 0) pass()
    })
  }
  const report = () => {
    if (dropped > 0) waiting += lost(dropped)
    dropped = 0
  }
  return {
    add(lines) {
      if (waiting.length >= maxWaitingLength) dropped += countLines(lines)
      else waiting += lines
      if (isWriting) return
      if (waiting.length >= minChunkLength) pass()
      else timer ??= setTimeout(pass, output.delay).unref()
    },
    flush: () =>
      new Promise((resolve) => {
        const limit = setTimeout(resolve, flushTimeout)
        flushed.push(() => {
          clearTimeout(limit)
          resolve()
        })
        pass()
      }),
  }
}

function countLines(text: string): number {
  return text.split('\n').length - 1
}

/** Returns standard output as a log output: a file, pipe, socket or terminal, written without blocking. */
export function standardOutput(): LogOutput {
  const { stdout } = process
  if (fstatSync(stdout.fd).isFile()) return fileOutput(stdout.fd)
  ignoreWriteErrors(stdout)
  if (stdout.isTTY) setNonBlocking(stdout)
  return {
    delay: stdout.isTTY ? 0 : outputDelay,
    write: (text, done) => void stdout.write(text, done),
  }
}

/** The delay of every output but a terminal, in milliseconds. */
export const outputDelay: Millis = 100

/** Returns a file descriptor as a log output. Writes run on Node's thread pool and do not hang. */
export function fileOutput(file: number): LogOutput {
  return {
    delay: outputDelay,
    write(text, done) {
      const bytes = Buffer.from(text)
      const writeFrom = (start: number) =>
        write(file, bytes, start, (error, written) => {
          if (error || start + written >= bytes.length) done(error)
          else writeFrom(start + written)
        })
      writeFrom(0)
    },
  }
}
