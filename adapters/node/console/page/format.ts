const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
const minute = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })

const shortDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const utcDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** Formats a number with separators, to the last digit. */
export function formatWhole(count: number): string {
  return whole.format(count)
}
/** The browser's time zone, in words: `Europe/Berlin (UTC+1)`. */
export const timeZone = describeTimeZone()

export function formatCount(count: number): string {
  return count < 10_000 ? whole.format(count) : compact.format(count)
}

/** Formats US dollars: cents from one dollar on, four significant digits below. */
export function formatUsd(usd: number): string {
  if (usd === 0) return '$0'
  if (usd >= 1)
    return `$${usd.toLocaleString('en-US', { maximumFractionDigits: 2, minimumFractionDigits: 2 })}`
  return `$${usd.toLocaleString('en-US', { maximumSignificantDigits: 3 })}`
}

/** Formats milliseconds: `340 ms`, `2.1 s`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`
}

export function formatPercent(fraction: number): string {
  const percent = fraction * 100
  return `${percent >= 10 || percent === 0 ? Math.round(percent) : percent.toFixed(1)}%`
}

/** The time of day of unix seconds, in the browser's time zone. */
export function formatTime(seconds: number): string {
  return clock.format(seconds * 1000)
}

/** The time of day of unix seconds, for another day with the day, in the browser's time zone. */
export function formatMoment(seconds: number): string {
  const isToday = day.format(seconds * 1000) === day.format()
  return isToday
    ? formatTime(seconds)
    : `${shortDay.format(seconds * 1000)}, ${formatTime(seconds)}`
}

/** The hour and the minute of unix seconds, in the browser's time zone. */
export function formatClock(seconds: number): string {
  return minute.format(seconds * 1000)
}

/** The date and the time of day of unix seconds, in the browser's time zone. */
export function formatDateTime(seconds: number): string {
  return moment.format(seconds * 1000)
}

/** The date of unix seconds, in the browser's time zone. */
export function formatDate(seconds: number): string {
  return day.format(seconds * 1000)
}

/** The day and the month of unix seconds, in UTC. */
export function formatUtcDay(seconds: number): string {
  return utcDay.format(seconds * 1000)
}

/** A duration in words: `3 d`, `5 h`, `12 min`, `40 s`. */
export function formatSpan(seconds: number): string {
  const units = [
    [86_400, 'd'],
    [3600, 'h'],
    [60, 'min'],
  ] as const
  const [size, unit] = units.find(([length]) => seconds >= length) ?? [1, 's']
  return `${Math.floor(seconds / size)} ${unit}`
}

/** How long ago unix seconds were: `now`, `5 min ago`, and the date after a week. */
export function formatAgo(seconds: number): string {
  const passed = Date.now() / 1000 - seconds
  if (passed < 10) return 'now'
  return passed < 7 * 86_400 ? `${formatSpan(passed)} ago` : formatDate(seconds)
}

function describeTimeZone(): string {
  const offset = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'shortOffset' })
    .formatToParts()
    .find(({ type }) => type === 'timeZoneName')?.value
  const { timeZone: name } = clock.resolvedOptions()
  // Of a zone at UTC the offset is a bare `GMT`.
  return name === 'UTC' || offset === undefined ? name : `${name} (${offset.replace('GMT', 'UTC')})`
}
