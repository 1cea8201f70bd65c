import { Chart } from './chart.tsx'
import type { Series } from './chart-props.ts'
import { formatPercent, formatUsd } from './format.ts'
import type { UsageGroup } from './shapes.ts'
import type { Sums } from './spend-sums.ts'
import { areColorsForced } from './theme.ts'

interface SpendProps {
  readonly sums: Sums
  /** The name of a row. */
  readonly nameOf: (id: string) => string
}

/** More would be colors that one cannot tell apart; without colors of their own, series differ by three patterns. */
function countSeries(): number {
  return areColorsForced() ? 3 : 6
}

/** The cost over time, divided as the table below it is. */
export function SpendChart({ sums, nameOf }: SpendProps) {
  const { span, starts, groups, costBefore } = sums
  const { interval, words } = span
  const cost = groups.reduce((sum, group) => sum + group.cost, 0)
  return (
    <Chart
      title={`Spend by ${interval.name}`}
      summary={`${formatUsd(cost)} ${words}${compare(cost, costBefore)}`}
      times={starts}
      style="bars"
      format={formatUsd}
      step={interval.seconds}
      formatTime={interval.formatTime}
      {...(interval.zone !== undefined && { zone: interval.zone })}
      series={listSeries(groups, starts, nameOf)}
    />
  )
}

/** More is not a change, but a beginning. */
const maxChange = 10

/** How the cost differs from that of the time before, where that can be compared. */
function compare(cost: number, before: number): string {
  if (before === 0 || cost / before > maxChange) return ''
  const change = (cost - before) / before
  if (Math.abs(change) < 0.01) return ', as much as before'
  const words = change > 0 ? 'more' : 'less'
  return `, ${formatPercent(Math.abs(change))} ${words} than before`
}

/** The dearest groups, and the others as one. */
function listSeries(
  groups: readonly UsageGroup[],
  starts: readonly number[],
  nameOf: SpendProps['nameOf'],
): Series[] {
  const paid = groups.filter(({ cost }) => cost > 0)
  const count = countNamed(paid)
  const named = paid.slice(0, count).map((group, at) => ({
    label: nameSeries(group.group, paid, nameOf),
    color: `part-${at + 1}`,
    values: addUp([group], starts),
  }))
  const rest = paid.slice(count)
  if (rest.length > 0) {
    named.push({
      label: `${rest.length} others`,
      color: 'none',
      values: addUp(rest, starts),
    })
  }
  return named
}

/** How many groups have a color of their own. */
function countNamed(paid: readonly UsageGroup[]): number {
  const max = countSeries()
  return paid.length > max ? max - 1 : paid.length
}

/** Returns the color of a group in the chart. */
export function findColor(wanted: UsageGroup, groups: readonly UsageGroup[]): string {
  const paid = groups.filter(({ cost }) => cost > 0)
  const place = paid.indexOf(wanted)
  return place >= 0 && place < countNamed(paid) ? `part-${place + 1}` : 'none'
}

/** Two keys may have one name. */
function nameSeries(
  id: string,
  groups: readonly UsageGroup[],
  nameOf: SpendProps['nameOf'],
): string {
  const name = nameOf(id)
  const isShared = groups.some(({ group }) => group !== id && nameOf(group) === name)
  return isShared ? `${name} (${id.slice(0, 8)})` : name
}

/** Adds up the costs of groups in each interval. */
function addUp(groups: readonly UsageGroup[], starts: readonly number[]): number[] {
  const costs = new Map(starts.map((start) => [start, 0]))
  for (const { start, cost } of groups.flatMap(({ intervals }) => intervals)) {
    costs.set(start, (costs.get(start) ?? 0) + cost)
  }
  return [...costs.values()]
}
