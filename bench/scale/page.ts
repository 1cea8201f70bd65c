import type { Machine } from '../machine.ts'
import { markdownTable } from '../page.ts'
import type { UsageFigures } from '../usage.ts'
import type { WorkerFigures } from '../workers.ts'
import type { KeyCost } from './keys.ts'
import type { SharedCost } from './shared.ts'
import type { OpenStreams } from './streams.ts'

/** What was measured. Times are microseconds of processor time, all threads of the gateway. */
export interface Figures {
  /** Of a small JSON call, with auth off. */
  readonly json: number
  /** Of the same with a key that has every limit, and its row in the usage log. */
  readonly keyed: number
  /** Of a frame of a stream that arrives alone. */
  readonly frame: number
  readonly streams: OpenStreams
  readonly keys: KeyCost
  readonly usage: UsageFigures
  readonly shared: SharedCost
  readonly workers: WorkerFigures
}

/** The share of a resource that is planned for; the rest is for bursts. */
const planned = 0.7
/** Frames a second of one stream: a model that is fast today. */
const framesPerSecond = 50
/** Cores of each of several machines. */
const coresPerMachine = 8

/** Renders the part of docs/scale.md that is computed. */
export function renderPage(figures: Figures, { date, node, cpu }: Machine): string {
  return [
    `Measured on ${date}: Node ${node}, ${cpu}, all processes on this machine.`,
    '## What things cost',
    costTable(figures),
    '## One process and one machine',
    `At ${planned * 100} % of each core, streams of ${framesPerSecond} frames a second:`,
    machineTable(figures),
    '## Several machines',
    `Machines of ${coresPerMachine} cores with \`server.workers = "auto"\` and one \`[shared]\` server, small calls whose keys have limits:`,
    machinesTable(figures),
  ]
    .map((part) => `${part}\n`)
    .join('\n')
}

function costTable({ json, keyed, frame, streams, keys, usage, shared }: Figures): string {
  const day = usage.sums.find(({ what }) => what.includes('total')) ?? usage.sums[0]
  return markdownTable(
    ['What', 'Cost'],
    [
      ['a small JSON call', `${micros(json)} of processor time`],
      ['the same with a key that has every limit', micros(keyed)],
      [
        'the same with `[shared]`',
        `${micros(shared.gateway)}, and ${micros(shared.server)} on the server`,
      ],
      ['a frame of a stream that arrives alone', micros(frame)],
      ['an open, silent stream', `${kilobytes(streams.bytes)} of memory`],
      ['a key in memory', `${kilobytes(keys.bytes)} in each process`],
      ['a key with limits on the `[shared]` server', kilobytes(shared.bytesPerKey)],
      [
        `the start with ${count(keys.count)} keys`,
        `${(keys.startWithAll / 1_000).toFixed(1)} s instead of ${(keys.startWithOne / 1_000).toFixed(1)} s`,
      ],
      ['a row of the usage log', `${micros(1e6 / usage.written)} in the database thread`],
      [
        `a sum over a day, of ${count(usage.rows)} rows in 30 days`,
        day ? `${day.median.toFixed(0)} ms in the database thread` : 'not measured',
      ],
    ],
  )
}

function machineTable(figures: Figures): string {
  const rows = [1, 2, 4, 8, 16].map((cores) => {
    const factor = workerFactor(cores, figures.workers)
    const capacity = (cost: number) => (factor * planned * 1e6) / cost
    const { shared } = figures
    const keyed =
      cores === 1
        ? capacity(figures.keyed)
        : Math.min(capacity(shared.gateway), serverCapacity(shared))
    return [
      cores === 1 ? 'one process' : `${cores} cores, ${cores} workers`,
      rounded(capacity(figures.json)),
      rounded(keyed),
      rounded(capacity(figures.frame * framesPerSecond)),
    ]
  })
  return markdownTable(['', 'calls/s', 'calls/s with keys', 'open streams'], rows)
}

function machinesTable({ shared, usage, workers }: Figures): string {
  const rows = [1, 2, 4, 8, 16].map((machines) => {
    const limits = {
      gateways:
        (machines * workerFactor(coresPerMachine, workers) * planned * 1e6) / shared.gateway,
      'the `[shared]` server': serverCapacity(shared),
      'the database': planned * usage.written,
    }
    const [first, least] = Object.entries(limits).reduce((a, b) => (b[1] < a[1] ? b : a))
    return [String(machines), ...Object.values(limits).map(rounded), rounded(least), first]
  })
  return markdownTable(
    ['Machines', 'gateways', '`[shared]` server', 'database', 'calls/s', 'first limit'],
    rows,
  )
}

/** How many single processes so many workers are worth. */
function workerFactor(cores: number, { factor }: WorkerFigures): number {
  // The gain of the second worker, for each further one.
  return 1 + (cores - 1) * (factor - 1)
}

/** Requests with limits a second that one `[shared]` server admits. */
function serverCapacity({ server }: SharedCost): number {
  return (planned * 1e6) / server
}

/** Rounds to two digits: the figures are not more exact. */
function rounded(value: number): string {
  return count(Number(value.toPrecision(2)))
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}

function micros(value: number): string {
  return `${Number(value.toPrecision(2))} µs`
}

function kilobytes(bytes: number): string {
  return `${Number((bytes / 1_000).toPrecision(2))} kB`
}
