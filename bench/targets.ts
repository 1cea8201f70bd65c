import { strategies } from '../src/core/route.ts'
import type { EmbeddingsFigures, EmbeddingsRow } from './embeddings.ts'
import type { GatewayStart } from './gateway.ts'
import type { Instructions } from './instructions.ts'
import { median } from './measure.ts'
import type { NodeFigures } from './nodes.ts'
import type { Round, Rounds } from './rounds.ts'
import {
  cacheScenario,
  coldScenario,
  doorRows,
  embeddingsName,
  halfScenario,
  keyedScenario,
  nativeRows,
  nodesName,
  routeScenario,
  startName,
  translatedKinds,
  turnsName,
  usageName,
} from './scenarios.ts'
import type { HopCosts } from './stream-hops.ts'
import type { UsageFigures } from './usage.ts'

export interface Results {
  readonly start?: GatewayStart | undefined
  /** Results by the name of the scenario. */
  readonly scenarios: Readonly<Record<string, Rounds>>
  /** Processor time to translate a conversation of 100 turns with tools, in milliseconds by row. */
  readonly hundredTurns?: Readonly<Record<string, number>> | undefined
  readonly hops?: HopCosts | undefined
  readonly embeddings?: EmbeddingsFigures | undefined
  readonly usage?: UsageFigures | undefined
  /** The results under each release line of Node. */
  readonly nodes?: readonly NodeFigures[] | undefined
  readonly instructions?: Instructions | undefined
}

export interface Target {
  readonly title: string
  readonly bound: 'at least' | 'at most'
  readonly limit: number
  readonly unit: string
  /** The name for `--only` of what is measured. */
  readonly measurement: string
  readonly value: (results: Results) => number | undefined
}

export interface Verdict extends Omit<Target, 'value'> {
  readonly value: number
  readonly met: boolean
}

/** Compares the results with every target whose scenario and subjects were measured. */
export function compareTargets(results: Results): Verdict[] {
  return targets.flatMap(({ value: valueOf, ...target }) => {
    const value = valueOf(results)
    if (value === undefined) return []
    const met = target.bound === 'at least' ? value >= target.limit : value <= target.limit
    return [{ ...target, value, met }]
  })
}

/** The rows of the measurement of long conversations. */
const turnRows = [
  ...translatedKinds,
  'messages to openai',
  'messages to google',
  'responses to openai',
  'responses to google',
  'responses to anthropic',
]

/** The most memory that the gateway may hold after load, by release line of Node. */
const maxMegabytes = { 20: 120, 24: 150, 26: 150 }

export const targets: readonly Target[] = [
  {
    title: 'the first 2,000 requests after a start at 1 connection, rate against baseline',
    bound: 'at least',
    limit: 0.5,
    unit: 'x',
    ...compare(coldScenario, ['gateway', 'baseline'], ratio(rate)),
  },
  {
    title: 'small JSON at 32 connections, rate against baseline',
    bound: 'at least',
    limit: 0.7,
    unit: 'x',
    ...compare('json32', ['gateway', 'baseline'], ratio(rate)),
  },
  {
    title: 'small JSON at 32 connections, p99 against baseline',
    bound: 'at most',
    limit: 3,
    unit: 'x',
    ...compare('json32', ['gateway', 'baseline'], ratio(p99)),
  },
  {
    title: 'small JSON at 32 connections and half the rate, p99.9 against baseline',
    bound: 'at most',
    limit: 1.5,
    unit: 'x',
    ...compare(halfScenario, ['gateway', 'baseline'], ratio(p999)),
  },
  {
    title: 'small JSON at 32 connections, rate with auth and limits against baseline',
    bound: 'at least',
    limit: 0.62,
    unit: 'x',
    ...compare(keyedScenario, ['keyed', 'baseline'], ratio(rate)),
  },
  {
    title: 'small JSON at 32 connections, rate with auth against without',
    bound: 'at least',
    limit: 0.85,
    unit: 'x',
    ...compare(keyedScenario, ['keyed', 'gateway'], ratio(rate)),
  },
  {
    title: 'small JSON at 1 connection, p50 with a shared state over that in memory',
    bound: 'at most',
    limit: 2,
    unit: 'x',
    ...compare('shared1', ['sharing', 'keyed'], ratio(p50)),
  },
  {
    title: 'small JSON at 32 connections, rate with a shared state against that in memory',
    bound: 'at least',
    limit: 0.5,
    unit: 'x',
    ...compare('shared32', ['sharing', 'keyed'], ratio(rate)),
  },
  {
    title: 'small JSON at 32 connections, rate of hits against calls to an instant upstream',
    bound: 'at least',
    limit: 2,
    unit: 'x',
    ...compare(cacheScenario, ['cached', 'gateway'], ratio(rate)),
  },
  {
    title: 'streamed frames at 16 connections, rate against baseline',
    bound: 'at least',
    limit: 0.95,
    unit: 'x',
    ...compare('stream', ['gateway', 'baseline'], ratio(frameRate)),
  },
  {
    title: 'small JSON at 1 connection, rate against baseline',
    bound: 'at least',
    limit: 0.8,
    unit: 'x',
    ...compare('json1', ['gateway', 'baseline'], ratio(rate)),
  },
  {
    title: 'prompts of 200 kB at 8 connections, rate against baseline',
    bound: 'at least',
    limit: 1.2,
    unit: 'x',
    ...compare('prompt200k', ['gateway', 'baseline'], ratio(rate)),
  },
  {
    title: 'a coding agent at 8 connections, rate of frames against baseline',
    bound: 'at least',
    limit: 1.2,
    unit: 'x',
    ...compare('agent', ['gateway', 'baseline'], ratio(frameRate)),
  },
  {
    title: 'stream at 1 connection, first byte p50 over baseline',
    bound: 'at most',
    limit: 2,
    unit: 'ms',
    ...compare(
      'firstbyte',
      ['gateway', 'baseline'],
      (gateway, other) => gateway.firstByte - other.firstByte,
    ),
  },
  ...strategies.map(
    (strategy): Target => ({
      title: `small JSON to a ${strategy} route over four targets, rate against a model`,
      bound: 'at least',
      limit: 0.97,
      unit: 'x',
      ...compare(routeScenario, [strategy, 'model'], ratio(rate)),
    }),
  ),
  ...translatedKinds.map(
    (kind): Target => ({
      title: `streamed frames of ${kind}, rate against verbatim`,
      bound: 'at least',
      limit: 0.5,
      unit: 'x',
      ...compare('translated', [kind, 'verbatim'], ratio(frameRate)),
    }),
  ),
  ...Object.entries({ doors32: ratio(rate), doorstreams: ratio(frameRate) }).flatMap(
    ([scenario, figure]) =>
      Object.values(doorRows)
        .slice(1)
        .map(
          (row): Target => ({
            title: `${scenario === 'doors32' ? 'small JSON' : 'streamed frames'} of ${row}, rate against verbatim chat`,
            bound: 'at least',
            limit: nativeRows.includes(row) ? 0.95 : 0.5,
            unit: 'x',
            ...compare(scenario, [row, doorRows.chat], figure),
          }),
        ),
  ),
  ...turnRows.map(
    (row): Target => ({
      title: `100 turns with tools, ${row}, processor time`,
      bound: 'at most',
      limit: 1,
      unit: 'ms',
      measurement: turnsName,
      value: (results) => results.hundredTurns?.[row],
    }),
  ),
  {
    title: '2,048 embeddings to numbers, rate of base64 against float',
    bound: 'at least',
    limit: 2,
    unit: 'x',
    measurement: embeddingsName,
    value: (results) => results.embeddings?.rate,
  },
  {
    title: '2,048 embeddings, rate of base64 against floats parsed and written anew',
    bound: 'at least',
    limit: 2,
    unit: 'x',
    measurement: embeddingsName,
    value: (results) => results.embeddings?.rateAgainstParsed,
  },
  {
    title: '2,048 embeddings, longest stall of the event loop',
    bound: 'at most',
    limit: 50,
    unit: 'ms',
    measurement: embeddingsName,
    value: worstEmbeddings((row) => row.stall),
  },
  {
    title: '2,048 embeddings, memory at its peak against the answer',
    bound: 'at most',
    limit: 6,
    unit: 'x',
    measurement: embeddingsName,
    value: worstEmbeddings((row) => row.memory),
  },
  {
    title: 'usage of a day out of a million rows, the slowest sum',
    bound: 'at most',
    limit: 300,
    unit: 'ms',
    measurement: usageName,
    value: ({ usage }) => usage && slowest(usage.sums),
  },
  {
    title: '10,000 rows of a million exported, the slowest page',
    bound: 'at most',
    limit: 300,
    unit: 'ms',
    measurement: usageName,
    value: ({ usage }) => usage && slowest(usage.pages),
  },
  {
    title: 'start to the first /health, median',
    bound: 'at most',
    limit: 170,
    unit: 'ms',
    measurement: startName,
    value: (results) => results.start?.milliseconds,
  },
  {
    title: 'memory when idle',
    bound: 'at most',
    limit: 110,
    unit: 'MB',
    measurement: startName,
    value: (results) => results.start?.idleMegabytes,
  },
  ...Object.entries(maxMegabytes).map(
    ([line, limit]): Target => ({
      title: `memory after load on Node ${line}`,
      bound: 'at most',
      limit,
      unit: 'MB',
      measurement: nodesName,
      value: ({ nodes }) => nodes?.find(({ version }) => version.startsWith(`${line}.`))?.megabytes,
    }),
  ),
]

/** Compares two rows of a scenario round by round, and takes the median. */
function compare(
  scenario: string,
  [name, other]: readonly [name: string, other: string],
  figure: (round: Round, beside: Round) => number,
): Pick<Target, 'measurement' | 'value'> {
  const value: Target['value'] = ({ scenarios }) => {
    const { [name]: rounds, [other]: others } = scenarios[scenario] ?? {}
    return rounds && others && compareRounds(rounds, others, figure)
  }
  return { measurement: scenario, value }
}

/** Compares the rounds of two rows that were measured in turn, and returns the median. */
export function compareRounds(
  rounds: readonly Round[],
  others: readonly Round[],
  figure: (round: Round, beside: Round) => number,
): number {
  return median(
    rounds.flatMap((round, at) => {
      const beside = others[at]
      return beside ? [figure(round, beside)] : []
    }),
  )
}

/** Returns the larger figure of floats and base64. */
function worstEmbeddings(figure: (row: EmbeddingsRow) => number): Target['value'] {
  return ({ embeddings }) =>
    embeddings && Math.max(figure(embeddings.rows.float), figure(embeddings.rows.base64))
}

/** Returns the largest median. */
function slowest(timings: UsageFigures['sums']): number {
  return Math.max(...timings.map(({ median: value }) => value))
}

export function ratio(figure: (round: Round) => number): (round: Round, beside: Round) => number {
  return (round, beside) => figure(round) / figure(beside)
}

function p50({ p50: latency }: Round): number {
  return latency
}

function p99({ p99: latency }: Round): number {
  return latency
}

function p999({ p999: latency }: Round): number {
  return latency
}

export function rate({ requests, seconds }: Round): number {
  return requests / seconds
}

export function frameRate({ frames, seconds }: Round): number {
  return frames / seconds
}
