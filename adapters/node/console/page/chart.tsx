import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import { formatClock } from './format.ts'
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
}

const height = 180

/** A chart over time. It reads like its summary to those who cannot see it. */
export function Chart({ title, summary, times, series, style, format }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<UPlot>(undefined)
  const colors = colorChanges.value
  const shape = series.map(({ label }) => label).join()

  useEffect(() => {
    const { current: element } = place
    if (!element) return undefined
    const created = new UPlot(
      describeChart({ series, style, format, width: element.clientWidth }),
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

type Look = Pick<ChartProps, 'series' | 'style' | 'format'> & { readonly width: number }

function describeChart({ series, style, format, width }: Look): UPlot.Options {
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
      x: { range: (_, min, max) => [min - 30, max + 30] },
      y: { range: (_, __, max) => [0, Math.max(max * 1.1, 1)] },
    },
    axes: [
      { ...axis, size: 24, grid: { show: false }, values: (_, splits) => splits.map(formatClock) },
      { ...axis, size: 56, values: (_, splits) => splits.map(format) },
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
