import { pino } from 'pino'
import pinoPretty from 'pino-pretty'
import type { Environment, Log, LogFormat, LogLevel } from '../../src/index.ts'

const levels = ['debug', 'info', 'warn', 'error'] as const satisfies readonly LogLevel[]

/** Standard output. */
const stdout = 1

/**
 * Lines are written when so many bytes wait, or after so long, in milliseconds. When nobody takes
 * them, the newest are dropped.
 */
const buffer = {
  minLength: 65_536,
  maxWrite: 131_072,
  periodicFlush: 1_000,
  maxLength: 16 * 1024 * 1024,
}

/** A log that writes to standard output, a little late. */
export interface NodeLog extends Log {
  /** Writes out what waits, at once. For the end of the process. */
  flush(): void
}

export interface LogOptions {
  readonly format: LogFormat
  readonly level: LogLevel
  readonly colors: boolean
  /** A file descriptor. */
  readonly destination?: number | undefined
}

/** The log on standard output: a JSON object a line, or a line for human eyes. */
export function nodeLog({ format, level, colors, destination = stdout }: LogOptions): NodeLog {
  const out = pino.destination({ dest: destination, sync: false, ...buffer })
  // A log that cannot be written must not end the process.
  out.on('error', () => {})
  const stream = format === 'json' ? out : prettyStream(out, colors)
  const logger = pino(
    {
      level,
      base: null,
      timestamp: isoTime(),
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  )
  return {
    enabled: (wanted) => logger.isLevelEnabled(wanted),
    write: (wanted, message, fields = {}) => logger[wanted](fields, message),
    flush: () => out.flushSync(),
  }
}

/** The time member of a line. Lines come in crowds, so the text of a millisecond is made once. */
function isoTime(): () => string {
  let last = 0
  let text = ''
  return () => {
    const now = Date.now()
    if (now !== last) {
      last = now
      text = `,"time":"${new Date(now).toISOString()}"`
    }
    return text
  }
}

/** `GATEWAY_LOG_LEVEL`, or undefined when it holds no level. */
export function logLevel({ GATEWAY_LOG_LEVEL: value = 'info' }: Environment): LogLevel | undefined {
  return levels.find((level) => level === value)
}

/** What a bad level is answered with. */
export const logLevelRule = `GATEWAY_LOG_LEVEL must be one of ${levels.join(', ')}`

/** Colours are for terminals, unless their user has declined them. */
export function wantsColors({ NO_COLOR: declined = '' }: Environment): boolean {
  return process.stdout.isTTY === true && declined === ''
}

/** Formats in this process: a worker of pino's own would not survive bundling. */
function prettyStream(out: { write(line: string): unknown }, colorize: boolean) {
  const format = pinoPretty.prettyFactory({
    colorize,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss.l',
  })
  return { write: (line: string) => void out.write(format(line)) }
}
