import { Registry } from 'prom-client'
import type { MetricsPort, MetricValues } from '../../../src/index.ts'
import {
  Counter,
  keepCounters,
  type MetricPage,
  metricsTopic,
  seriesTable,
} from '../../../src/metrics/index.ts'
import { addProcessSeries, createMetrics } from '../ports/metrics.ts'
import type { WorkerProcess } from './worker-process.ts'

/** How long a worker may take to answer, in milliseconds. */
const answerTimeout = 3_000

/** The metrics of all workers, also of those that have ended, and of the primary process. */
export class PoolMetrics {
  readonly #own: MetricsPort
  readonly #countEnded: () => void
  /** The last metrics of each worker. */
  readonly #last = new Map<WorkerProcess, MetricPage>()
  #ended: readonly MetricValues[] = []

  /** `countWorkers` returns how many workers take requests. */
  constructor(countWorkers: () => number) {
    const registry = new Registry()
    addProcessSeries(registry)
    this.#own = createMetrics(registry)
    this.#own.read({
      ...seriesTable.workers,
      samples: () => [{ labels: {}, value: countWorkers() }],
    })
    const ended = new Counter(this.#own, seriesTable.workersEnded)
    this.#countEnded = () => ended.inc({})
  }

  /** Asks each worker. One that does not answer in time is shown as it was when it last did. */
  async collect(workers: Iterable<WorkerProcess>): Promise<readonly MetricPage[]> {
    await Promise.all(Array.from(workers, (worker) => this.#update(worker)))
    const own = { worker: 'primary', metrics: await this.#own.collect() }
    const pages = [...this.#last.values()].sort((a, b) => Number(a.worker) - Number(b.worker))
    return [...pages, { worker: 'ended', metrics: this.#ended }, own]
  }

  /** Keeps what a worker has counted that has ended. */
  end(worker: WorkerProcess): void {
    const page = this.#last.get(worker)
    this.#last.delete(worker)
    if (page) this.#ended = keepCounters([{ worker: 'ended', metrics: this.#ended }, page])
  }

  /** Counts a worker that has ended although it was not stopped. */
  countEnd(): void {
    this.#countEnded()
  }

  async #update(worker: WorkerProcess): Promise<void> {
    const asked = { topic: metricsTopic.name, question: undefined }
    // The workers answer this topic with a page.
    const page = (await worker.channel.call('ask', asked, answerTimeout).catch(() => undefined)) as
      | MetricPage
      | undefined
    if (page && worker.channel.isOpen) this.#last.set(worker, page)
  }
}
