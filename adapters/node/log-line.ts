import type { LogLevel } from '../../src/index.ts'

export interface LogLine {
  readonly level: LogLevel
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** Makes the text of a line, with its line end. */
export type LineFormat = (line: LogLine) => string

/**
 * A JSON object a line. By hand: there is a line for each request, and a logger of more abilities
 * takes several times as long for it.
 */
export function jsonFormat(): LineFormat {
  const time = isoTime()
  return ({ level, message, fields }) => {
    const inner = JSON.stringify(fields).slice(1, -1)
    const head = `{"level":"${level}","time":"${time()}",${inner}${inner === '' ? '' : ','}`
    return `${head}"msg":${JSON.stringify(message)}}\n`
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

/** A line for people: the local time, the level, the message and the fields. */
export function prettyFormat(hasColors: boolean): LineFormat {
  const paint = hasColors ? colored : (_: Color, text: string) => text
  return ({ level, message, fields }) => {
    const words =
      message === 'request' ? requestWords(fields, paint) : otherWords(level, message, paint)
    const rest = Object.entries(fields)
      .filter(([name, value]) => value !== undefined && !words.shown.has(name))
      .map(([name, value]) => `${paint('dim', `${name}=`)}${shownValue(value)}`)
    const parts = [paint('dim', clockTime()), ...words.text, ...rest, ...(words.last ?? [])]
    return `${parts.join(' ')}\n`
  }
}

/** The words of a line, and the fields that they show. */
interface Words {
  readonly text: readonly string[]
  /** The words that follow the other fields. */
  readonly last?: readonly string[]
  readonly shown: ReadonlySet<string>
}

const none: ReadonlySet<string> = new Set()

function otherWords(level: LogLevel, message: string, paint: Paint): Words {
  const name = paint(colors[level], level.toUpperCase().padEnd(5))
  return { text: [name, escaped(message)], shown: none }
}

const shownOfRequest: ReadonlySet<string> = new Set([
  'status',
  'error_code',
  'capability',
  'model',
  'model_used',
  'provider',
  'stream',
  'latency_ms',
  'ttft_ms',
  'attempts',
  'tokens_in',
  'tokens_out',
  'estimated',
  'key_id',
  'failed',
])

/** `200 chat fast→local 39 ms 12+5 tok key 5f0c3a7e`: of a finished request. */
function requestWords(fields: LogLine['fields'], paint: Paint): Words {
  const { status, error_code: code, capability, stream, key_id: key } = fields
  const { latency_ms: latency, ttft_ms: ttft, attempts } = fields
  const text = [
    paint(colorOf(Number(status)), plain(status)),
    code === undefined ? '' : plain(code),
    `${plain(capability)}${stream === true ? ' stream' : ''}`,
    servedWords(fields),
    ttft === undefined ? `${plain(latency)} ms` : `${plain(latency)} ms (first ${plain(ttft)})`,
    Number(attempts) > 1 ? `${plain(attempts)} attempts` : '',
    tokenWords(fields),
    key === undefined ? '' : `key ${plain(key).slice(0, 8)}`,
  ]
  const last = Array.isArray(fields['failed']) ? [failedWords(fields['failed'], paint)] : []
  return { text: text.filter((word) => word !== ''), last, shown: shownOfRequest }
}

/** `failed: fast→local could not be reached (ECONNREFUSED), 3 attempts; …`: links, in order. */
function failedWords(failed: readonly LogLine['fields'][], paint: Paint): string {
  const links = failed.map(({ model, provider, reason, attempts }) => {
    const times = Number(attempts) > 1 ? `, ${plain(attempts)} attempts` : ''
    return `${plain(model)}→${plain(provider)} ${escaped(String(reason))}${times}`
  })
  return `${paint('dim', 'failed:')} ${links.join('; ')}`
}

/** Model and provider; with another model in between where a fallback has served. */
function servedWords({ model, model_used: used, provider }: LogLine['fields']): string {
  if (model === undefined) return ''
  const fallback = used === undefined || used === model ? '' : `→${plain(used)}`
  return `${plain(model)}${fallback}${provider === undefined ? '' : `→${plain(provider)}`}`
}

function tokenWords({ tokens_in: input, tokens_out: output, estimated }: LogLine['fields']) {
  if (input === undefined) return ''
  return `${estimated === true ? '~' : ''}${plain(input)}+${plain(output)} tok`
}

function plain(value: unknown): string {
  return typeof value === 'string' ? shownText(value) : String(value)
}

function shownValue(value: unknown): string {
  return typeof value === 'string' ? shownText(value) : escaped(JSON.stringify(value) ?? 'null')
}

/** As it is where that is unmistakable, else in quotation marks. */
function shownText(text: string): string {
  return /^[^\s"=\p{C}]+$/u.test(text) ? text : escaped(JSON.stringify(text))
}

/** Without characters that a terminal would obey; JSON leaves some of them as they are. */
function escaped(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The local time, to the millisecond. */
function clockTime(): string {
  const now = new Date()
  const digits = (value: number, length = 2) => String(value).padStart(length, '0')
  const [hours, minutes, seconds] = [now.getHours(), now.getMinutes(), now.getSeconds()]
  const time = `${digits(hours)}:${digits(minutes)}:${digits(seconds)}`
  return `${time}.${digits(now.getMilliseconds(), 3)}`
}

type Color = 'dim' | 'red' | 'green' | 'yellow' | 'cyan'
type Paint = (color: Color, text: string) => string

const codes: Readonly<Record<Color, number>> = { dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 }

function colored(color: Color, text: string): string {
  return `\u001b[${codes[color]}m${text}\u001b[0m`
}

const colors: Readonly<Record<LogLevel, Color>> = {
  debug: 'cyan',
  info: 'green',
  warn: 'yellow',
  error: 'red',
}

function colorOf(status: number): Color {
  if (status >= 500) return 'red'
  return status >= 400 ? 'yellow' : 'green'
}
