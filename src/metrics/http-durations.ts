import type { Meters, ReadMetric, Sample } from '../core/metrics.ts'
import { table } from './table.ts'

/** The labels of one HTTP request. */
export interface HttpOutcome {
  readonly route: string
  readonly method: string
  readonly status: number
}

interface Series {
  readonly labels: Readonly<Record<keyof HttpOutcome, string>>
  /** The number of requests in each bucket, not cumulative; the last one is `+Inf`. */
  readonly counts: number[]
  sum: number
}

const { name, help, type, buckets: bounds } = table.httpDuration

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/**
 * The histogram of HTTP durations, observed for every request. It looks its series up in nested maps;
 * the histogram of a metrics library joins its labels into a string at every observation.
 */
export class HttpDurations implements ReadMetric {
  readonly name = name
  readonly help = help
  readonly type = type
  readonly #series: Series[] = []
  readonly #index = new Map<string, Map<string, Map<number, Series>>>()

  constructor(meters: Meters) {
    meters.read(this)
  }

  observe(exchange: HttpOutcome, seconds: number): void {
    const { route, method, status } = exchange
    const series = this.#index.get(route)?.get(method)?.get(status) ?? this.#add(exchange)
    const bound = bounds.findIndex((max) => seconds <= max)
    const at = bound < 0 ? bounds.length : bound
    series.counts[at] = (series.counts[at] ?? 0) + 1
    series.sum += seconds
  }

  samples(): readonly Sample[] {
    return this.#series.flatMap(toSamples)
  }

  /** Unknown methods share one series, because clients can invent any number of them. */
  #add({ route, method, status }: HttpOutcome): Series {
    const known = methods.has(method) ? method : 'other'
    const ofRoute = getOrCreate(this.#index, route, () => new Map<string, Map<number, Series>>())
    const ofMethod = getOrCreate(ofRoute, known, () => new Map<number, Series>())
    return getOrCreate(ofMethod, status, () => {
      const labels = { route, method: known, status: String(status) }
      const series: Series = { labels, counts: [], sum: 0 }
      this.#series.push(series)
      return series
    })
  }
}

function getOrCreate<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}

function toSamples({ labels, counts, sum }: Series): Sample[] {
  let count = 0
  const buckets = [...bounds, '+Inf'].map((le, at) => {
    count += counts[at] ?? 0
    return { name: `${name}_bucket`, labels: { ...labels, le }, value: count }
  })
  return [
    ...buckets,
    { name: `${name}_sum`, labels, value: sum },
    { name: `${name}_count`, labels, value: count },
  ]
}
