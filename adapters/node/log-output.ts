import { fstatSync, write } from 'node:fs'
import type { Millis } from '../../src/core/ids.ts'
import { flushTimeout, ignoreWriteErrors, setNonBlocking } from './print.ts'

/** A place that lines are written to, one write at a time. It never blocks the thread. */
export interface LogOutput {
  /** How long a line may wait for others to be written with. */
  readonly delay: Millis
  /** Writes a text and calls `done` once, with an error where some of it is lost. */
  write(text: string, done: (error?: Error | null) => void): void
}

/** Lines that wait are written at once when they have so many characters. */
const minChunkLength = 65_536
/** So many characters may wait for a reader that is slow or stuck. */
const maxWaitingLength = 8 * 1024 * 1024

export interface LineWriter {
  add(line: string): void
  /** Resolves when what waits now is written, but after 250 ms in any case. Never rejects. */
  flush(): Promise<void>
}

/**
 * Gathers lines and writes many at a time. When the reader does not keep up, the newest lines are
 * dropped and counted; `lost` makes the line that reports them, once a write has succeeded again.
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
    add(line) {
      if (waiting.length >= maxWaitingLength) dropped++
      else waiting += line
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

/** Standard output: a file, or else a pipe, a socket or a terminal, written to without blocking. */
export function standardOutput(): LogOutput {
  const { stdout } = process
  if (fstatSync(stdout.fd).isFile()) return fileOutput(stdout.fd)
  ignoreWriteErrors(stdout)
  if (stdout.isTTY) setNonBlocking(stdout)
  return {
    delay: stdout.isTTY ? 0 : delay,
    write: (text, done) => void stdout.write(text, done),
  }
}

/** An output that people do not look at while it is written. */
const delay: Millis = 100

/** A file by its descriptor. Writing to it takes a thread of the pool, which always comes back. */
export function fileOutput(file: number): LogOutput {
  return {
    delay,
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
