import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import { colorChanges } from './theme.ts'

/** One line or one stack of bars. */
export interface Series {
  readonly label: string
  /** The name of the color in the style sheet, for example `good`. */
  readonly color: string
  readonly values: readonly (number | null)[]
}

export interface ChartProps {
  readonly title: string
  /** What the chart shows now, in words. */
  readonly summary: string
  /** Unix seconds, increasing. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
  /** Bars are stacked in the order of the series. */
  readonly style: 'bars' | 'lines'
  readonly format: (value: number) => string
  /** The smallest distance of two marks of the vertical axis, where the format shows no parts of it. */
  readonly minStep?: number
  /** The seconds from one time to the next. */
  readonly step: number
  readonly formatTime: (seconds: number) => string
}

const height = 180

/** A chart over time. It reads like its summary to those who cannot see it. */
export function Chart(props: ChartProps) {
  const { title, summary, times, series, style, step } = props
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<UPlot>(undefined)
  const colors = colorChanges.value
  const shape = [step, ...series.map(({ label }) => label)].join()

  useEffect(() => {
    const { current: element } = place
    if (!element) return undefined
    const created = new UPlot(
      describeChart(props, element.clientWidth),
      toData({ times, series, style }),
      element,
    )
    chart.current = created
    const observer = new ResizeObserver(() =>
      created.setSize({ width: element.clientWidth, height }),
    )
    observer.observe(element)
    return () => {
      observer.disconnect()
      created.destroy()
    }
  }, [colors, shape])

  useEffect(() => chart.current?.setData(toData({ times, series, style })), [times, series])

  return (
    <figure class="panel chart">
      <figcaption>
        <h2>{title}</h2>
        <p>{summary}</p>
        <div class="legend" aria-hidden="true">
          {series.map(({ label, color }) => (
            <span key={label}>
              <span class={`swatch ${color}`} />
              {label}
            </span>
          ))}
        </div>
      </figcaption>
      <div ref={place} role="img" aria-label={`${title}: ${summary}`} />
    </figure>
  )
}

type Data = Pick<ChartProps, 'times' | 'series' | 'style'>

/** The columns of uPlot. Stacked bars are drawn from the highest to the lowest. */
function toData({ times, series, style }: Data): UPlot.AlignedData {
  const columns = series.map(({ values }, index) =>
    style === 'lines'
      ? [...values]
      : values.map((_, at) => sum(series.slice(0, index + 1).map((each) => each.values[at] ?? 0))),
  )
  return [[...times], ...(style === 'bars' ? columns.toReversed() : columns)]
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

type Look = Omit<ChartProps, 'title' | 'summary' | 'times'>

function describeChart(
  { series, style, format, minStep, step, formatTime }: Look,
  width: number,
): UPlot.Options {
  const styles = getComputedStyle(document.documentElement)
  const color = (name: string) => styles.getPropertyValue(`--${name}`).trim()
  const axis = {
    stroke: color('faint-text'),
    font: '11px system-ui',
    grid: { stroke: color('line'), width: 1 },
    ticks: { show: false },
  }
  const bars = UPlot.paths.bars?.({ size: [0.7, 24], radius: 0.2 })
  const ordered = style === 'bars' ? series.toReversed() : series
  return {
    width,
    height,
    padding: [8, 12, 0, 0],
    cursor: { show: false },
    legend: { show: false },
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
    series: [
      {},
      ...ordered.map(({ label, color: name }) => ({
        label,
        ...(style === 'bars'
          ? { ...(bars && { paths: bars }), fill: color(name), width: 0, points: { show: false } }
          : { stroke: color(name), width: 2, points: { show: true, size: 5, fill: color(name) } }),
      })),
    ],
  }
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
