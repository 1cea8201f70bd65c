/** By what the sums of a window can be divided. In UTC; weeks begin on Monday. */
export const usageIntervals = ['hour', 'day', 'week', 'month'] as const
export type UsageInterval = (typeof usageIntervals)[number]

const hour = 3_600
const day = 24 * hour
const week = 7 * day

/** The first Monday is four days after the beginning of unix time. */
export const firstWeek = 4 * day

/** The duration of an interval, in seconds; that of the longest month. */
const maxSeconds: Readonly<Record<UsageInterval, number>> = { hour, day, week, month: 31 * day }

/** Lists the starts of the intervals that a window touches, in unix seconds. */
export function listIntervals(
  interval: UsageInterval,
  { since, until }: { readonly since: number; readonly until: number },
): number[] {
  const starts = []
  for (let start = startOfInterval(interval, since); start <= until; ) {
    starts.push(start)
    start = startOfInterval(interval, start + maxSeconds[interval])
  }
  return starts
}

/** Returns the start of the interval that contains a time, both in unix seconds. */
export function startOfInterval(interval: UsageInterval, time: number): number {
  switch (interval) {
    case 'hour':
      return Math.floor(time / hour) * hour
    case 'day':
      return Math.floor(time / day) * day
    case 'week':
      return Math.floor((time - firstWeek) / week) * week + firstWeek
    case 'month': {
      const date = new Date(time * 1000)
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / 1000
    }
    default:
      return interval satisfies never
  }
}
