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
  /** The time zone of the times; by default the browser's. */
  readonly zone?: string
}
