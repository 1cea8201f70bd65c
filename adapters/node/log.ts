import type { Environment, Log, LogFormat, LogLevel } from '../../src/index.ts'
import { createJsonFormat, createPrettyFormat } from './log-line.ts'
import { createLineWriter, type LogOutput, standardOutput } from './log-output.ts'

const levels = ['debug', 'info', 'warn', 'error'] as const satisfies readonly LogLevel[]

/** A log that writes a little later than it is called, and never blocks. */
export interface NodeLog extends Log {
  /** Resolves when what waits is written, but after 250 ms in any case. */
  flush(): Promise<void>
}

export interface LogOptions {
  readonly format: LogFormat
  readonly level: LogLevel
  readonly colors: boolean
  /** Standard output by default. */
  readonly output?: LogOutput | undefined
}

/** The log: a JSON object a line, or a line for people. */
export function nodeLog({ format, level, colors, output }: LogOptions): NodeLog {
  const formatLine = format === 'json' ? createJsonFormat() : createPrettyFormat(colors)
  const writer = createLineWriter(output ?? standardOutput(), (lines) =>
    formatLine({
      level: 'warn',
      message: 'log lines are lost: standard output did not take them',
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
    flush: () => writer.flush(),
  }
}

/** `GATEWAY_LOG_LEVEL`, or undefined when it holds no level. */
export function logLevel({ GATEWAY_LOG_LEVEL: value = 'info' }: Environment): LogLevel | undefined {
  return levels.find((level) => level === value)
}

/** The answer to a bad level. */
export const logLevelRule = `GATEWAY_LOG_LEVEL must be one of ${levels.join(', ')}`

/** Colours are for terminals, unless their user has declined them. */
export function wantsColors({ NO_COLOR: declined = '' }: Environment): boolean {
  return process.stdout.isTTY === true && declined === ''
}
