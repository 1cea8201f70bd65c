import type { Millis } from '../../../src/core/ids.ts'
import { metricsTopic } from '../../../src/metrics/index.ts'
import { configTopic, type ServedConfig } from '../../../src/reload/index.ts'
import { CommandFailure } from '../failures/command-failure.ts'
import type { NodeLog } from '../log/log.ts'
import type { ConnectionDealer } from './connection-dealer.ts'
import type { Asked, StartedWorker, WorkerStart } from './messages.ts'
import { PoolMetrics } from './pool-metrics.ts'
import { Turns } from './turns.ts'
import { type ProcessEnd, WorkerProcess } from './worker-process.ts'

export interface WorkerPoolOptions {
  readonly start: Omit<WorkerStart, 'number' | 'logsStart'>
  readonly log: NodeLog
  readonly dealer: ConnectionDealer
  /** Called with the text of a configuration that the workers apply. */
  readonly onConfig: (text: string) => void
  /** Called when no worker is left and none can start. */
  readonly onFailure: (failure: CommandFailure) => void
}

/** How long a worker may take to answer a question, and to apply a state. */
const answerTimeout: Millis = 3_000
const applyTimeout: Millis = 10_000

/** How often the metrics are read, so that those of a worker that dies are not lost. */
const metricsInterval: Millis = 5_000

/** A worker that ends within this time counts as unable to run, and its replacement waits. */
const minLife: Millis = 10_000
const minBackoff: Millis = 250
const maxBackoff: Millis = 30_000

/** The workers of a gateway: starts them, replaces those that die, and passes on what they ask each other. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #metrics = new PoolMetrics(() => this.#options.dealer.takers)
  readonly #turns = new Turns<WorkerProcess>()
  /** The last state of each topic, which new workers apply. */
  readonly #states = new Map<string, Asked>()
  readonly #all = new Set<WorkerProcess>()
  /** Those that serve, in the order of their start. */
  readonly #ready = new Set<WorkerProcess>()
  /** How often in a row each one has ended early, by its number. */
  readonly #earlyEnds = new Map<number, number>()
  readonly #timers = new Set<NodeJS.Timeout>()
  #isStopping = false
  #isClean = true

  constructor(options: WorkerPoolOptions) {
    this.#options = options
    const readMetrics = () => void this.#metrics.collect(this.#ready)
    this.#timers.add(setInterval(readMetrics, metricsInterval).unref())
  }

  /** Starts the first worker, which logs what it finds. Rejects with the reason when it cannot start. */
  startFirst(): Promise<StartedWorker> {
    return this.#launch(1, true)
  }

  /** Starts the others. Rejects when one of them cannot start. */
  async startOthers(): Promise<void> {
    const { count } = this.#options.start
    const numbers = Array.from({ length: count - 1 }, (_, at) => at + 2)
    await Promise.all(numbers.map((number) => this.#launch(number, false)))
  }

  /** Has all workers serve the current content of the configuration file. Never rejects. */
  readonly reload = async (): Promise<void> => {
    await this.#first?.channel.call('reload', undefined).catch(() => {})
  }

  /** Like `reload`, but only when the file has changed. */
  readonly refresh = async (): Promise<void> => {
    await this.#first?.channel.call('refresh', undefined).catch(() => {})
  }

  /**
   * Lets each worker finish its requests and end, within a time. Resolves to true when all of them saved
   * everything.
   */
  async stop(within: Millis): Promise<boolean> {
    this.#endPlans()
    for (const worker of this.#all) {
      if (this.#ready.has(worker)) worker.stop()
      else worker.kill()
    }
    const limit = setTimeout(() => this.kill(), within)
    await this.#waitForAll()
    clearTimeout(limit)
    return this.#isClean
  }

  /** Ends all workers at once. Resolves when they have ended. */
  async abort(): Promise<void> {
    this.#endPlans()
    this.kill()
    await this.#waitForAll()
  }

  /** Like `abort`, for a process that ends itself. */
  kill(): void {
    for (const worker of this.#all) worker.kill()
  }

  get #first(): WorkerProcess | undefined {
    const [first] = this.#ready
    return first
  }

  /** From now on no worker is replaced. */
  #endPlans(): void {
    this.#isStopping = true
    for (const timer of this.#timers) clearTimeout(timer)
  }

  async #waitForAll(): Promise<void> {
    await Promise.all(Array.from(this.#all, ({ ended }) => ended))
  }

  async #launch(number: number, logsStart: boolean): Promise<StartedWorker> {
    const { start, dealer } = this.#options
    const worker = new WorkerProcess({ ...start, number, logsStart })
    this.#all.add(worker)
    this.#serveCalls(worker)
    let leave: () => void = () => {}
    void worker.ended.then((end) => {
      leave()
      this.#handleEnd(worker, end)
    })
    try {
      const started = await worker.started
      await this.#applyStates(worker)
      this.#ready.add(worker)
      leave = dealer.join(worker.channel)
      return started
    } catch (error) {
      worker.kill()
      await worker.ended
      throw error
    }
  }

  #serveCalls(worker: WorkerProcess): void {
    const { channel } = worker
    channel.onNotice('log', (lines) => this.#options.log.pass(lines))
    channel.onCall('ask', (asked) => this.#ask(asked))
    channel.onCall('publish', (asked) => this.#publish(asked, worker))
    channel.onCall('turn', () => this.#turns.take(worker))
    channel.onNotice('turnEnded', () => this.#turns.end(worker))
  }

  async #ask(asked: Asked): Promise<readonly unknown[]> {
    if (asked.topic === metricsTopic.name) return this.#metrics.collect(this.#ready)
    const answers = await Promise.allSettled(
      Array.from(this.#ready, ({ channel }) => channel.call('ask', asked, answerTimeout)),
    )
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  }

  async #publish(asked: Asked, from: WorkerProcess): Promise<void> {
    this.#states.set(asked.topic, asked)
    // The workers publish this topic with a text.
    if (asked.topic === configTopic.name) {
      this.#options.onConfig((asked.question as ServedConfig).text)
    }
    const others = [...this.#ready].filter((worker) => worker !== from)
    await Promise.all(
      others.map(({ channel }) =>
        channel.call('ask', asked, applyTimeout).catch((error: unknown) => {
          // The replacement of a worker that has ended applies the state when it starts.
          if (channel.isOpen) throw error
        }),
      ),
    )
  }

  /** Applies what was published before and during the start of a worker. */
  async #applyStates({ channel }: WorkerProcess): Promise<void> {
    const applied = new Set<Asked>()
    const findNext = () => [...this.#states.values()].find((asked) => !applied.has(asked))
    for (let asked = findNext(); asked; asked = findNext()) {
      await channel.call('ask', asked, applyTimeout)
      applied.add(asked)
    }
  }

  #handleEnd(worker: WorkerProcess, end: ProcessEnd): void {
    this.#all.delete(worker)
    this.#turns.leave(worker)
    this.#metrics.end(worker)
    const wasReady = this.#ready.delete(worker)
    if (this.#isStopping) {
      if (wasReady && end.code !== 0) this.#isClean = false
      return
    }
    // The start of a worker reports its own failure.
    if (!wasReady) return
    this.#metrics.countEnd()
    const { number, pid, age } = worker
    if (age >= minLife) this.#earlyEnds.delete(number)
    const delay = this.#backOff(number)
    const { code, signal } = end
    const fields = { worker: number, pid, code, signal, restart_in_ms: delay }
    this.#options.log.write('warn', 'worker ended', fields)
    this.#replaceAfter(delay, number)
  }

  #backOff(number: number): Millis {
    const early = this.#earlyEnds.get(number) ?? 0
    this.#earlyEnds.set(number, early + 1)
    return early === 0 ? 0 : Math.min(maxBackoff, minBackoff * 2 ** (early - 1))
  }

  #replaceAfter(delay: Millis, number: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      void this.#replace(number)
    }, delay)
    this.#timers.add(timer)
  }

  async #replace(number: number): Promise<void> {
    const { log, onFailure } = this.#options
    try {
      await this.#launch(number, false)
      log.write('info', 'worker replaced', { worker: number })
    } catch (error) {
      if (this.#isStopping) return
      const failure =
        error instanceof CommandFailure
          ? error
          : new CommandFailure(1, `worker ${number} cannot apply the configuration`)
      if (this.#all.size === 0) return onFailure(failure)
      const delay = this.#backOff(number)
      const fields = { worker: number, reason: failure.lines.join('; '), restart_in_ms: delay }
      log.write('error', 'worker cannot start', fields)
      this.#replaceAfter(delay, number)
    }
  }
}
