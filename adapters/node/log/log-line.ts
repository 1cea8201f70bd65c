import type { LogLevel } from '../../../src/index.ts'

export interface LogLine {
  readonly level: LogLevel
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** Formats a line, including its line end. */
export type LineFormat = (line: LogLine) => string

/**
 * Formats each line as one JSON object: level, time, the fields, then `msg`, the layout of pino. It is
 * assembled by hand because every request writes a line, and a general logger takes several times as
 * long to format it.
 */
export function createJsonFormat(): LineFormat {
  const time = createIsoTime()
  return ({ level, message, fields }) => {
    const inner = JSON.stringify(fields).slice(1, -1)
    const head = `{"level":"${level}","time":"${time()}",${inner}${inner === '' ? '' : ','}`
    return `${head}"msg":${JSON.stringify(message)}}\n`
  }
}

/** Returns the current time in ISO 8601. Lines come in bursts, so one text serves a whole millisecond. */
function createIsoTime(): () => string {
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

/** Formats lines for people: local time, level, message and fields. */
export function createPrettyFormat(hasColors: boolean): LineFormat {
  const paint = hasColors ? paintAnsi : (_: Color, text: string) => text
  return ({ level, message, fields }) => {
    const words =
      message === 'request' ? formatRequest(fields, paint) : formatMessage(level, message, paint)
    const rest = Object.entries(fields)
      .filter(([name, value]) => value !== undefined && !words.shown.has(name))
      .map(([name, value]) => `${paint('dim', `${name}=`)}${formatValue(value)}`)
    const parts = [paint('dim', formatLocalTime()), ...words.text, ...rest, ...(words.last ?? [])]
    return `${parts.join(' ')}\n`
  }
}

/** The leading words of a line, and the names of the fields that they include. */
interface LineParts {
  readonly text: readonly string[]
  /** Words after the other fields. */
  readonly last?: readonly string[]
  readonly shown: ReadonlySet<string>
}

const none: ReadonlySet<string> = new Set()

function formatMessage(level: LogLevel, message: string, paint: Paint): LineParts {
  const name = paint(colors[level], level.toUpperCase().padEnd(5))
  return { text: [name, escapeControls(message)], shown: none }
}

const shownOfRequest: ReadonlySet<string> = new Set([
  'status',
  'error_code',
  'capability',
  'api',
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
  'reason',
  // The reason names it.
  'scope',
])

/** Formats a finished request, with the failed links or the refusal at its end: `200 chat fast→local 39 ms 12+5 tok key 5f0c3a7e`. */
function formatRequest(fields: LogLine['fields'], paint: Paint): LineParts {
  const { status, error_code: code, api, stream, key_id: key } = fields
  const { latency_ms: latency, ttft_ms: ttft, attempts } = fields
  const text = [
    paint(statusColor(Number(status)), formatWord(status)),
    code === undefined ? '' : formatWord(code),
    `${formatWord(api)}${stream === true ? ' stream' : ''}`,
    formatServed(fields),
    ttft === undefined
      ? `${formatWord(latency)} ms`
      : `${formatWord(latency)} ms (first ${formatWord(ttft)})`,
    Number(attempts) > 1 ? `${formatWord(attempts)} attempts` : '',
    formatTokens(fields),
    key === undefined ? '' : `key ${formatWord(key).slice(0, 8)}`,
  ]
  const { failed, reason } = fields
  const last = [
    ...(Array.isArray(failed) ? [formatFailed(failed, paint)] : []),
    ...(typeof reason === 'string'
      ? [`${paint('dim', 'refused:')} ${escapeControls(reason)}`]
      : []),
  ]
  return { text: text.filter((word) => word !== ''), last, shown: shownOfRequest }
}

/** Formats the failed links in order: `failed: fast→local could not be reached (…), 3 attempts; …`. */
function formatFailed(failed: readonly LogLine['fields'][], paint: Paint): string {
  const links = failed.map(({ model, provider, reason, attempts }) => {
    const times = Number(attempts) > 1 ? `, ${formatWord(attempts)} attempts` : ''
    return `${formatWord(model)}→${formatWord(provider)} ${escapeControls(String(reason))}${times}`
  })
  return `${paint('dim', 'failed:')} ${links.join('; ')}`
}

/** Formats model and provider, with the fallback model in between if one has served. */
function formatServed({ model, model_used: used, provider }: LogLine['fields']): string {
  if (model === undefined) return ''
  const fallback = used === undefined || used === model ? '' : `→${formatWord(used)}`
  return `${formatWord(model)}${fallback}${provider === undefined ? '' : `→${formatWord(provider)}`}`
}

function formatTokens({ tokens_in: input, tokens_out: output, estimated }: LogLine['fields']) {
  if (input === undefined) return ''
  return `${estimated === true ? '~' : ''}${formatWord(input)}+${formatWord(output)} tok`
}

function formatWord(value: unknown): string {
  return typeof value === 'string' ? quoteIfNeeded(value) : String(value)
}

function formatValue(value: unknown): string {
  return typeof value === 'string'
    ? quoteIfNeeded(value)
    : escapeControls(JSON.stringify(value) ?? 'null')
}

/** Returns the text as it is if it is unambiguous, else in quotation marks. */
function quoteIfNeeded(text: string): string {
  return /^[^\s"=\p{C}]+$/u.test(text) ? text : escapeControls(JSON.stringify(text))
}

/** Escapes control and format characters, which a terminal would interpret. JSON keeps some of them. */
function escapeControls(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Returns the local time to the millisecond: `09:05:01.250`. */
function formatLocalTime(): string {
  const now = new Date()
  const digits = (value: number, length = 2) => String(value).padStart(length, '0')
  const [hours, minutes, seconds] = [now.getHours(), now.getMinutes(), now.getSeconds()]
  const time = `${digits(hours)}:${digits(minutes)}:${digits(seconds)}`
  return `${time}.${digits(now.getMilliseconds(), 3)}`
}

type Color = 'dim' | 'red' | 'green' | 'yellow' | 'cyan'
type Paint = (color: Color, text: string) => string

const codes: Readonly<Record<Color, number>> = { dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 }

function paintAnsi(color: Color, text: string): string {
  return `\u001b[${codes[color]}m${text}\u001b[0m`
}

const colors: Readonly<Record<LogLevel, Color>> = {
  debug: 'cyan',
  info: 'green',
  warn: 'yellow',
  error: 'red',
}

function statusColor(status: number): Color {
  if (status >= 500) return 'red'
  return status >= 400 ? 'yellow' : 'green'
}
