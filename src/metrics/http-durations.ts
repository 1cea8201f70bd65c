import type { Meters } from '../core/metrics.ts'
import { Histogram } from './histogram.ts'
import type { LabelsOf } from './labelled-series.ts'
import { seriesTable } from './table.ts'

const methods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
])

/** The histogram of HTTP durations, observed for every request. */
export class HttpDurations {
  readonly #histogram: Histogram<'route' | 'method' | 'status'>

  constructor(meters: Meters) {
    this.#histogram = new Histogram(meters, seriesTable.httpDuration)
  }

  /** Unknown methods share one series, because clients can invent any number of them. */
  observe({ route, method, status }: HttpOutcome, seconds: number): void {
    const known = methods.has(method) ? method : 'other'
    this.#histogram.observe({ route, method: known, status }, seconds)
  }
}

/** The labels of one HTTP request. */
type HttpOutcome = LabelsOf<'route' | 'status'> & { readonly method: string }
