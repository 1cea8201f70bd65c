import type { Millis } from '../core/ids.ts'
import { type Weekday, weekdays } from '../core/price-settings.ts'

/** When an entry of the prices holds. */
export interface ConfiguredWindow {
  /** `HH:MM-HH:MM`: the start is inclusive, the end is exclusive and may be on the next day. */
  readonly hours?: readonly string[] | undefined
  /** The days on which the hours begin; all by default. */
  readonly days?: readonly Weekday[] | undefined
  /** By default UTC. */
  readonly time_zone?: string | undefined
  /** Dates of UTC, `YYYY-MM-DD`. */
  readonly from?: string | undefined
  /** Exclusive. */
  readonly until?: string | undefined
}

export const minute: Millis = 60_000
const minutesOfDay = 24 * 60

/**
 * Returns a function that is true for the times at which the window holds; undefined when it always does. The
 * value changes at whole minutes only.
 */
export function createWindow(configured: ConfiguredWindow): ((at: Millis) => boolean) | undefined {
  const { hours, from, until } = configured
  const holdsInDay = hours && createHours(hours, configured)
  if (!holdsInDay && from === undefined && until === undefined) return undefined
  const first = from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from)
  const end = until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until)
  return (at) => at >= first && at < end && (holdsInDay?.(at) ?? true)
}

interface Hours {
  /** Minutes since midnight. */
  readonly start: number
  readonly end: number
}

function createHours(
  hours: readonly string[],
  { days = weekdays, time_zone: zone = 'UTC' }: ConfiguredWindow,
): (at: Millis) => boolean {
  const parsed = hours.map(parseHours)
  const begins = new Set(days.map((day) => weekdays.indexOf(day)))
  const readLocal = zone === 'UTC' ? readUtc : createLocalReader(zone)
  return (at) => {
    const { day, minutes } = readLocal(at)
    const yesterday = (day + 6) % 7
    return parsed.some(({ start, end }) => {
      if (start < end) return begins.has(day) && minutes >= start && minutes < end
      // Over midnight: the window belongs to the day on which it begins.
      return (begins.has(day) && minutes >= start) || (begins.has(yesterday) && minutes < end)
    })
  }
}

function parseHours(text: string): Hours {
  const [start = 0, end = 0] = text.split('-').map((time) => {
    const [hour = 0, minutes = 0] = time.split(':').map(Number)
    return hour * 60 + minutes
  })
  return { start, end }
}

interface LocalTime {
  /** From Sunday, 0. */
  readonly day: number
  readonly minutes: number
}

function readUtc(at: Millis): LocalTime {
  const minutes = Math.floor(at / minute)
  const days = Math.floor(minutes / minutesOfDay)
  // The epoch was a Thursday.
  return { day: (((days + 4) % 7) + 7) % 7, minutes: minutes - days * minutesOfDay }
}

function createLocalReader(timeZone: string): (at: Millis) => LocalTime {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  return (at) => {
    const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]))
    const day = (parts.get('weekday') ?? '').toLowerCase()
    return {
      day: (weekdays as readonly string[]).indexOf(day),
      minutes: Number(parts.get('hour')) * 60 + Number(parts.get('minute')),
    }
  }
}
