import { InvalidArgumentError } from 'commander'

/** Formats unix seconds as a time in UTC with its second, for example `2026-12-31 18:00:05Z`. */
export function formatSecond(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')}Z`
}

/** Formats unix seconds as a time in UTC, for example `2026-12-31 18:00Z`. */
export function formatTime(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')}Z`
}

const secondsByUnit: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
}

/** Parses a duration such as `90s`, `15m`, `24h`, `7d` or `2w` to seconds; undefined for other texts. */
export function parseDuration(text: string): number | undefined {
  const [, count = '', unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text) ?? []
  const size = secondsByUnit[unit]
  return size === undefined ? undefined : Number(count) * size
}

/**
 * Parses an option to unix seconds: a date, an ISO time with its offset, unix seconds, or a duration
 * that `place` relates to the current time. Dates begin at midnight UTC.
 */
export function parseTime(text: string, place: (now: number, duration: number) => number): number {
  if (/^\d{1,11}$/.test(text)) return Number(text)
  const duration = parseDuration(text)
  if (duration !== undefined) return place(Math.floor(Date.now() / 1000), duration)
  const at = isoTime.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isFinite(at)) return Math.floor(at / 1000)
  throw new InvalidArgumentError(
    'must be a date, an ISO time such as 2026-12-31T18:00:00Z, unix seconds, or a duration such as 30d',
  )
}

/** A date, or a time with its offset. */
const isoTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/i

/** Parses the begin of a window: a duration is before now. */
export function parseSince(text: string): number {
  return parseTime(text, (now, duration) => now - duration)
}

/** Parses the end of a window. A date means the whole day. */
export function parseUntil(text: string): number {
  return parseSince(text) + (isDate(text) ? 86_399 : 0)
}

/** Whether a text is a date without a time. */
function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text)
}
