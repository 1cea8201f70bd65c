import { formatClock, formatUtcDay } from './format.ts'

/** The intervals of a chart. */
export interface Interval {
  readonly name: 'hour' | 'day'
  readonly seconds: number
  readonly formatTime: (seconds: number) => string
  /** The time zone of these times, when it is not the browser's. */
  readonly zone?: string
}

const hour: Interval = { name: 'hour', seconds: 3600, formatTime: formatClock }
const day: Interval = { name: 'day', seconds: 86_400, formatTime: formatUtcDay, zone: 'UTC' }

/** A time to show the spend of, in unix seconds. */
export interface Span {
  readonly since: number
  /** Exclusive. */
  readonly until: number
  readonly interval: Interval
  /** Ends the sentence "$5 …". */
  readonly words: string
}

/** The spans to choose from besides own dates. */
export const spans = [
  { id: '24h', name: 'Last 24 hours' },
  { id: '7d', name: 'Last 7 days' },
  { id: '30d', name: 'Last 30 days' },
  { id: 'month', name: 'This month' },
  { id: 'last-month', name: 'Last month' },
] as const

type SpanId = (typeof spans)[number]['id']

/** The choice of own dates. */
export const ownDates = 'dates'

/** More days would be bars that one cannot tell apart, and more intervals than an answer has. */
export const maxDays = 366

/**
 * Reads the span that an address names; the last 24 hours when it names none. Days are those of UTC. Returns what is
 * wrong with own dates as a text. `now`: unix seconds.
 */
export function readSpan(query: URLSearchParams, now: number): Span | string {
  const id = query.get('span')
  if (id === ownDates) return readDates(query.get('from') ?? '', query.get('to') ?? '')
  return toSpan(spans.find((span) => span.id === id)?.id ?? '24h', now)
}

function toSpan(id: SpanId, now: number): Span {
  switch (id) {
    case '24h':
      return endNow(hour, 24, now)
    case '7d':
      return endNow(day, 7, now)
    case '30d':
      return endNow(day, 30, now)
    case 'month': {
      const since = startOfMonth(now, 0)
      return { since, until: endOfToday(now), interval: day, words: 'this month' }
    }
    case 'last-month': {
      const since = startOfMonth(now, -1)
      return { since, until: startOfMonth(now, 0), interval: day, words: 'last month' }
    }
    default:
      return id satisfies never
  }
}

function endNow(interval: Interval, count: number, now: number): Span {
  const until = Math.floor(now / interval.seconds + 1) * interval.seconds
  const words = `in the last ${count} ${interval.name}s`
  return { since: until - count * interval.seconds, until, interval, words }
}

function endOfToday(now: number): number {
  return Math.floor(now / day.seconds + 1) * day.seconds
}

/** The first second of a month in UTC. `offset`: 0 for the present one, -1 for the last. */
function startOfMonth(now: number, offset: number): number {
  const date = new Date(now * 1000)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset) / 1000
}

function readDates(from: string, to: string): Span | string {
  const since = Date.parse(from) / 1000
  const until = Date.parse(to) / 1000 + day.seconds
  if (Number.isNaN(since) || Number.isNaN(until)) return 'Choose the first and the last day.'
  if (since >= until) return 'The first day is after the last.'
  const days = (until - since) / day.seconds
  if (days > maxDays) return `Choose at most ${maxDays} days.`
  const words =
    days === 1
      ? `on ${formatUtcDay(since)}`
      : `from ${formatUtcDay(since)} to ${formatUtcDay(until - 1)}`
  return { since, until, interval: days <= 2 ? hour : day, words }
}

/** Returns the starts of the intervals of a span. */
export function listStarts({ since, until, interval }: Span): number[] {
  const count = Math.round((until - since) / interval.seconds)
  return Array.from({ length: count }, (_, at) => since + at * interval.seconds)
}
