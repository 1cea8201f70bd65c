import UPlot from 'uplot'
import type { ChartProps, Series } from './chart-props.ts'
import { areColorsForced } from './theme.ts'

export const chartHeight = 180

type Data = Pick<ChartProps, 'times' | 'series' | 'style'>

/** The columns of uPlot. Stacked bars are drawn from the highest to the lowest. */
export function toData({ times, series, style }: Data): UPlot.AlignedData {
  const columns = series.map(({ values }, index) =>
    style === 'lines'
      ? [...values]
      : values.map((_, at) => sum(series.slice(0, index + 1).map((each) => each.values[at] ?? 0))),
  )
  return [[...times], ...(style === 'bars' ? columns.toReversed() : columns)]
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

interface Look extends Omit<ChartProps, 'title' | 'summary' | 'times'> {
  /** In CSS pixels. */
  readonly width: number
  /** Called with the index of the time under the pointer. */
  readonly onHover: (index: number | undefined) => void
}

/** The options of uPlot. The colors are those of the style sheet now. */
export function describeChart(look: Look): UPlot.Options {
  const { series, style, format, minStep, step, formatTime, width, onHover } = look
  const styles = getComputedStyle(document.documentElement)
  const color = (name: string) => styles.getPropertyValue(`--${name}`).trim()
  const axis = {
    stroke: color('faint-text'),
    font: '11px system-ui',
    grid: { stroke: color('line'), width: 1 },
    ticks: { show: false },
  }
  const drawn = series.map((each, at) =>
    drawSeries({ ...each, color: color(each.color) }, style, at),
  )
  return {
    width,
    height: chartHeight,
    padding: [8, 12, 0, 0],
    cursor: { y: false, points: { show: style === 'lines' }, drag: { x: false, y: false } },
    legend: { show: false },
    hooks: { setCursor: [({ cursor }) => onHover(cursor.idx ?? undefined)] },
    scales: {
      // Room for half a bar at both ends.
      x: { range: (_, min, max) => [min - step / 2, max + step / 2] },
      y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] },
    },
    axes: [
      {
        ...axis,
        size: 24,
        grid: { show: false },
        splits: ({ data: [times] }) => thinOut(times, step, width / 80),
        values: (_, splits) => splits.map(formatTime),
      },
      {
        ...axis,
        size: 56,
        ...(minStep !== undefined && { incrs: listSteps(minStep) }),
        values: (_, splits) => splits.map(format),
      },
    ],
    series: [{}, ...(style === 'bars' ? drawn.toReversed() : drawn)],
  }
}

/** `at`: which of the series. Lines after the first are dashed, so that they differ without colors. */
function drawSeries(
  { label, color }: Series,
  style: ChartProps['style'],
  at: number,
): UPlot.Series {
  if (style === 'lines') {
    const points = { show: true, size: 5, fill: color }
    return { label, stroke: color, width: 2, points, ...(at > 0 && { dash: [6, 4] }) }
  }
  const paths = UPlot.paths.bars?.({ size: [0.7, 24], radius: 0.2 })
  const fill = areColorsForced() ? () => drawPattern(color, at) : color
  return { label, ...(paths && { paths }), fill, width: 0, points: { show: false } }
}

const tilePx = 6

/** Without colors of their own, bars differ by a pattern; the legend has the same in the style sheet. */
function drawPattern(color: string, at: number): CanvasPattern | string {
  if (at === 0) return color
  const tile = document.createElement('canvas')
  tile.width = tilePx
  tile.height = tilePx
  const context = tile.getContext('2d')
  if (!context) return color
  // A higher bar of a stack is drawn first, and would show through.
  context.fillStyle = getComputedStyle(document.body).backgroundColor
  context.fillRect(0, 0, tilePx, tilePx)
  context.fillStyle = color
  // Stripes for the second, a grid for the third.
  context.fillRect(0, 0, tilePx, 2)
  if (at > 1) context.fillRect(0, 0, 2, tilePx)
  return context.createPattern(tile, 'repeat') ?? color
}

/** The distances between marks to choose from: 1, 2 and 5 times the powers of ten of the smallest. */
function listSteps(min: number): number[] {
  const powers = Array.from({ length: 12 }, (_, exponent) => min * 10 ** exponent)
  return powers.flatMap((power) => [power, 2 * power, 5 * power])
}

/** Every how many steps a time may have a label: the halves and thirds of hours and days. */
const rhythms = [1, 2, 3, 6, 10, 15, 30]

/** Returns times at round distances, at most about as many as the limit. */
function thinOut(times: ArrayLike<number>, step: number, limit: number): number[] {
  const rhythm = rhythms.find((every) => times.length / every <= limit) ?? 60
  return Array.from(times).filter((time) => (time / step) % rhythm === 0)
}
