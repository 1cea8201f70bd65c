import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { MetricValues } from '../../src/index.ts'
import { keepCounters, mergeMetrics, seriesTable } from '../../src/metrics/index.ts'

const gauge = (name: string, value: number, labels = {}): MetricValues => ({
  name,
  help: 'help',
  type: 'gauge',
  samples: [{ labels, value }],
})

const tokens = (value: number, model: string): MetricValues => ({
  name: 'gateway_tokens_total',
  help: 'help',
  type: 'counter',
  samples: [{ labels: { model, direction: 'input' }, value }],
})

const duration = (buckets: readonly number[]): MetricValues => ({
  name: 'gateway_time_to_first_token_seconds',
  help: 'help',
  type: 'histogram',
  samples: buckets.map((value, at) => ({
    name: 'gateway_time_to_first_token_seconds_bucket',
    labels: { le: at },
    value,
  })),
})

/** Merges one metric of several workers, and returns its samples. */
function merge(...metrics: readonly MetricValues[]) {
  const pages = metrics.map((metric, at) => ({ worker: String(at + 1), metrics: [metric] }))
  return mergeMetrics(pages).flatMap(({ samples }) => samples)
}

describe('the metrics of several workers', () => {
  test('counters and histograms are added, each series by itself', () => {
    expect(merge(tokens(2, 'a'), tokens(3, 'a'), tokens(4, 'b'))).toEqual([
      { labels: { model: 'a', direction: 'input' }, value: 5 },
      { labels: { model: 'b', direction: 'input' }, value: 4 },
    ])
    expect(merge(duration([1, 3]), duration([0, 5])).map(({ value }) => value)).toEqual([1, 8])
  })

  test('the order of labels does not matter', () => {
    const [sample] = merge(gauge('gateway_requests_in_flight', 1, { a: 1, b: 2 }), {
      ...gauge('gateway_requests_in_flight', 2, { b: 2, a: 1 }),
    })
    expect(sample).toEqual({ labels: { a: 1, b: 2 }, value: 3 })
  })

  test.each([
    ['gateway_build_info', [1, 1, 1], 1],
    ['gateway_ready', [1, 0, 1], 0],
    ['gateway_requests_in_flight', [1, 2, 3], 6],
    ['gateway_event_loop_lag_seconds', [0.1, 0.3, 0.2], 0.3],
    ['gateway_provider_up', [1, 1, 0], 0],
    ['gateway_circuit_state', [0, 2, 1], 1],
    ['gateway_circuit_state', [0, 2, 0], 2],
    ['gateway_circuit_state', [0, 0, 0], 0],
  ])('%s of %j is %s', (name, values, expected) => {
    const merged = merge(...values.map((value) => gauge(name, value)))
    expect(merged).toEqual([{ labels: {}, value: expected }])
  })

  test('series of the process are told apart by the worker', () => {
    expect(merge(gauge('process_open_fds', 20), gauge('process_open_fds', 30))).toEqual([
      { labels: { worker: '1' }, value: 20 },
      { labels: { worker: '2' }, value: 30 },
    ])
  })

  test('of a worker that has ended only its counters stay', () => {
    const metrics = [tokens(2, 'a'), duration([1]), gauge('gateway_ready', 1)]
    const kept = keepCounters([
      { worker: '1', metrics: [...metrics, gauge('process_open_fds', 9)] },
    ])
    expect(kept.map(({ name }) => name)).toEqual([
      'gateway_tokens_total',
      'gateway_time_to_first_token_seconds',
    ])
  })

  test('docs/workers.md names every gauge of the gateway that is not added', () => {
    const page = readFileSync('docs/workers.md', 'utf8')
    const special = Object.values(seriesTable).filter(
      (series) => series.type === 'gauge' && series.acrossWorkers !== 'sum',
    )
    const missing = special.map(({ name }) => name).filter((name) => !page.includes(`\`${name}\``))
    expect(missing).toEqual([])
  })
})
