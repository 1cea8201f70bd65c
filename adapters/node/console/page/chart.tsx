import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import { chartHeight, describeChart, sum, toData } from './chart-look.ts'
import type { ChartProps } from './chart-props.ts'
import { timeZone } from './format.ts'
import { colorChanges } from './theme.ts'

/** A chart over time. It reads like its summary to those who cannot see it; arrow keys go from time to time. */
export function Chart(props: ChartProps) {
  const { title, summary, times, series, style, step } = props
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<UPlot>(undefined)
  const hovered = useSignal<number | undefined>(undefined)
  const colors = colorChanges.value
  const shape = [step, ...series.map(({ label }) => label)].join()

  useEffect(() => {
    const { current: element } = place
    if (!element) return undefined
    const onHover = (index: number | undefined) => {
      hovered.value = index
    }
    const look = { ...props, width: element.clientWidth, onHover }
    const created = new UPlot(describeChart(look), toData({ times, series, style }), element)
    chart.current = created
    const observer = new ResizeObserver(() =>
      created.setSize({ width: element.clientWidth, height: chartHeight }),
    )
    observer.observe(element)
    return () => {
      observer.disconnect()
      created.destroy()
    }
  }, [colors, shape])

  useEffect(() => chart.current?.setData(toData({ times, series, style })), [times, series])

  const onKeyDown = (event: KeyboardEvent) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (steps === undefined) return
    event.preventDefault()
    const from = hovered.value ?? (steps > 0 ? -1 : times.length)
    pointAt(chart.current, Math.min(Math.max(0, from + steps), times.length - 1))
  }

  return (
    <figure class="panel chart">
      <figcaption>
        <h2>{title}</h2>
        <p>{summary}</p>
        <div class={`legend ${style}`} aria-hidden="true">
          {series.map(({ label, color }) => (
            <span key={label}>
              <span class={`swatch ${color}`} />
              {label}
            </span>
          ))}
        </div>
      </figcaption>
      <div class="plot">
        <div
          ref={place}
          role="img"
          aria-label={`${title}: ${summary}`}
          tabIndex={0}
          onKeyDown={onKeyDown}
          onBlur={() => pointAt(chart.current, undefined)}
        />
        <Tooltip {...props} chart={chart.current} index={hovered.value} />
      </div>
    </figure>
  )
}

/** Moves the cursor to one of the times; undefined hides it. */
function pointAt(chart: UPlot | undefined, index: number | undefined): void {
  const time = index === undefined ? undefined : chart?.data[0][index]
  const left = time === undefined ? undefined : chart?.valToPos(time, 'x')
  chart?.setCursor({ left: left ?? -10, top: left === undefined ? -10 : 0 })
}

interface TooltipProps extends ChartProps {
  readonly chart: UPlot | undefined
  /** Which of the times; undefined for none. */
  readonly index: number | undefined
}

/** The numbers of one time, beside the pointer. */
function Tooltip({ chart, index, times, series, style, format, ...props }: TooltipProps) {
  const time = index === undefined ? undefined : times[index]
  if (!chart || index === undefined || time === undefined) return null
  const left = chart.over.offsetLeft + chart.valToPos(time, 'x')
  const isRight = left > chart.width / 2
  const values = series.map(({ values: all }) => all[index] ?? null)
  return (
    <div
      class={isRight ? 'tooltip before' : 'tooltip'}
      style={{ left: `${Math.round(left)}px` }}
      role="status"
    >
      <strong>
        {props.formatTime(time)} <span class="faint">{props.zone ?? timeZone}</span>
      </strong>
      <div class={`values ${style}`}>
        {series.map(({ label, color }, at) => (
          <span key={label}>
            <span class={`swatch ${color}`} />
            {label}
            <b>{formatValue(values[at], format)}</b>
          </span>
        ))}
        {style === 'bars' && series.length > 1 && (
          <span>
            all<b>{format(sum(values.map((value) => value ?? 0)))}</b>
          </span>
        )}
      </div>
    </div>
  )
}

function formatValue(value: number | null | undefined, format: (value: number) => string): string {
  return value == null ? '–' : format(value)
}
