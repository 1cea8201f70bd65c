import type { Environment, Log, LogFormat, LogLevel } from '../../../src/index.ts'
import { createJsonFormat, createPrettyFormat, type LineFormat } from './log-line.ts'
import { createLineWriter, type LogOutput, standardOutput } from './log-output.ts'

const levels = ['debug', 'info', 'warn', 'error'] as const satisfies readonly LogLevel[]

/** A log that writes in the background, up to 100 ms later, and never blocks. */
export interface NodeLog extends Log {
  /** Writes lines that another process has formatted. */
  pass(lines: string): void
  /** Resolves when the waiting lines are written, or after 250 ms. */
  flush(): Promise<void>
}

export interface LogOptions {
  readonly format: LogFormat
  readonly level: LogLevel
  readonly colors: boolean
  /** The number of the worker, which all lines then carry. */
  readonly worker?: number | undefined
  /** Standard output by default. */
  readonly output?: LogOutput | undefined
}

/** Creates the log, which writes one JSON object per line or lines for people. */
export function nodeLog({ format, level, colors, worker, output }: LogOptions): NodeLog {
  const formatOwn = format === 'json' ? createJsonFormat() : createPrettyFormat(colors)
  const formatLine: LineFormat =
    worker === undefined
      ? formatOwn
      : (line) => formatOwn({ ...line, fields: { worker, ...line.fields } })
  const writer = createLineWriter(output ?? standardOutput(), (lines) =>
    formatLine({
      level: 'warn',
      message: 'log lines dropped, standard output is too slow or closed',
      fields: { lines },
    }),
  )
  const minLevel = levels.indexOf(level)
  const enabled = (wanted: LogLevel) => levels.indexOf(wanted) >= minLevel
  return {
    enabled,
    write(wanted, message, fields = {}) {
      if (enabled(wanted)) writer.add(formatLine({ level: wanted, message, fields }))
    },
    pass: (lines) => writer.add(lines),
    flush: () => writer.flush(),
  }
}

/** Returns the level in `GATEWAY_LOG_LEVEL` (default `info`), or undefined when it is not a level. */
export function logLevel({ GATEWAY_LOG_LEVEL: value = 'info' }: Environment): LogLevel | undefined {
  return levels.find((level) => level === value)
}

/** The error message for an invalid level. */
export const logLevelRule = `GATEWAY_LOG_LEVEL must be one of ${levels.join(', ')}`
