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
  const lines = gather(out)
  const shown = format === 'json' ? (line: string) => line : prettyFormat(colors)
  const time = isoTime()
  const lowest = levels.indexOf(level)
  const enabled = (wanted: LogLevel) => levels.indexOf(wanted) >= lowest
  return {
    enabled,
    write(wanted, msg, fields = {}) {
      if (!enabled(wanted)) return
      // By hand: there is a line for each request, and a logger of more abilities takes four times
      // as long for it.
      const inner = JSON.stringify(fields).slice(1, -1)
      const told = `{"level":"${wanted}","time":"${time()}",${inner}${inner === '' ? '' : ','}`
      lines.add(shown(`${told}"msg":${JSON.stringify(msg)}}\n`))
    },
    flush: () => lines.flush(),
  }
}

type Destination = ReturnType<typeof pino.destination>

/**
 * Lines are gathered before the destination sees them: it measures the bytes of all that waits at
 * each write, and to measure a text that grows is to copy the whole of it for every line.
 */
function gather(out: Destination) {
  let waiting = ''
  let timer: NodeJS.Timeout | undefined
  const pass = () => {
    clearTimeout(timer)
    timer = undefined
    if (waiting !== '') out.write(waiting)
    waiting = ''
  }
  const passOn = () => {
    pass()
    out.flush()
  }
  return {
    add(line: string): void {
      waiting += line
      // Its bytes are no fewer, so the destination writes it at once.
      if (waiting.length >= buffer.minLength) pass()
      else timer ??= setTimeout(passOn, buffer.periodicFlush).unref()
    },
    flush(): void {
      pass()
      out.flushSync()
    },
  }
}

/** The present time. Lines come in crowds, so the text of a millisecond is made once. */
function isoTime(): () => string {
  let last = 0
  let text = ''
  return () => {
    const now = Date.now()
    if (now !== last) {
      last = now
      text = new Date(now).toISOString()
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
function prettyFormat(colorize: boolean): (line: string) => string {
  return pinoPretty.prettyFactory({
    colorize,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss.l',
  })
}
