import { strategies } from '../src/core/route.ts'
import type { EmbeddingsFigures, EmbeddingsRow } from './embeddings.ts'
import type { GatewayStart } from './gateway.ts'
import { median } from './measure.ts'
import type { Round, Rounds } from './rounds.ts'
import {
  cacheScenario,
  doorRows,
  keyedScenario,
  routeScenario,
  translatedKinds,
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
}

interface Target {
  readonly title: string
  readonly bound: 'at least' | 'at most'
  readonly limit: number
  readonly unit: string
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

const targets: readonly Target[] = [
  {
    title: 'small JSON at 32 connections, rate against baseline',
    bound: 'at least',
    limit: 0.5,
    unit: 'x',
    value: compare('json32', ['gateway', 'baseline'], ratio(rate)),
  },
  {
    title: 'small JSON at 32 connections, rate against portkey',
    bound: 'at least',
    limit: 8,
    unit: 'x',
    value: compare('json32', ['gateway', 'portkey'], ratio(rate)),
  },
  {
    title: 'small JSON at 32 connections, rate with auth against without',
    bound: 'at least',
    limit: 0.85,
    unit: 'x',
    value: compare(keyedScenario, ['keyed', 'gateway'], ratio(rate)),
  },
  {
    title: 'small JSON at 1 connection, p50 with a shared state over that in memory',
    bound: 'at most',
    limit: 2,
    unit: 'x',
    value: compare('shared1', ['sharing', 'keyed'], ratio(p50)),
  },
  {
    title: 'small JSON at 32 connections, rate with a shared state against that in memory',
    bound: 'at least',
    limit: 0.5,
    unit: 'x',
    value: compare('shared32', ['sharing', 'keyed'], ratio(rate)),
  },
  {
    title: 'small JSON at 32 connections, rate of hits against calls to an instant upstream',
    bound: 'at least',
    limit: 2,
    unit: 'x',
    value: compare(cacheScenario, ['cached', 'gateway'], ratio(rate)),
  },
  {
    title: 'streamed frames at 16 connections, rate against baseline',
    bound: 'at least',
    limit: 0.75,
    unit: 'x',
    value: compare('stream', ['gateway', 'baseline'], ratio(frameRate)),
  },
  {
    title: 'small JSON at 1 connection, p50 over baseline',
    bound: 'at most',
    limit: 1,
    unit: 'ms',
    value: compare('json1', ['gateway', 'baseline'], (gateway, other) => gateway.p50 - other.p50),
  },
  {
    title: 'stream at 1 connection, first byte p50 over baseline',
    bound: 'at most',
    limit: 2,
    unit: 'ms',
    value: compare(
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
      value: compare(routeScenario, [strategy, 'model'], ratio(rate)),
    }),
  ),
  ...translatedKinds.map(
    (kind): Target => ({
      title: `streamed frames of ${kind}, rate against verbatim`,
      bound: 'at least',
      limit: 0.5,
      unit: 'x',
      value: compare('translated', [kind, 'verbatim'], ratio(frameRate)),
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
            limit: row === doorRows.messagesNative ? 0.95 : 0.5,
            unit: 'x',
            value: compare(scenario, [row, doorRows.chat], figure),
          }),
        ),
  ),
  ...turnRows.map(
    (row): Target => ({
      title: `100 turns with tools, ${row}, processor time`,
      bound: 'at most',
      limit: 1,
      unit: 'ms',
      value: (results) => results.hundredTurns?.[row],
    }),
  ),
  {
    title: '2,048 embeddings to numbers, rate of base64 against float',
    bound: 'at least',
    limit: 2,
    unit: 'x',
    value: (results) => results.embeddings?.rate,
  },
  {
    title: '2,048 embeddings, rate of base64 against floats parsed and written anew',
    bound: 'at least',
    limit: 2,
    unit: 'x',
    value: (results) => results.embeddings?.rateAgainstParsed,
  },
  {
    title: '2,048 embeddings, longest stall of the event loop',
    bound: 'at most',
    limit: 50,
    unit: 'ms',
    value: worstEmbeddings((row) => row.stall),
  },
  {
    title: '2,048 embeddings, memory at its peak against the answer',
    bound: 'at most',
    limit: 6,
    unit: 'x',
    value: worstEmbeddings((row) => row.memory),
  },
  {
    title: 'usage of a day out of a million rows, the slowest sum',
    bound: 'at most',
    limit: 300,
    unit: 'ms',
    value: ({ usage }) => usage && slowest(usage.sums),
  },
  {
    title: '10,000 rows of a million exported, the slowest page',
    bound: 'at most',
    limit: 300,
    unit: 'ms',
    value: ({ usage }) => usage && slowest(usage.pages),
  },
  {
    title: 'start to the first /health, median',
    bound: 'at most',
    limit: 700,
    unit: 'ms',
    value: (results) => results.start?.milliseconds,
  },
  {
    title: 'memory when idle',
    bound: 'at most',
    limit: 110,
    unit: 'MB',
    value: (results) => results.start?.idleMegabytes,
  },
]

/** Compares two rows of a scenario round by round, and takes the median. */
function compare(
  scenario: string,
  [name, other]: readonly [name: string, other: string],
  figure: (round: Round, beside: Round) => number,
): Target['value'] {
  return ({ scenarios }) => {
    const { [name]: rounds, [other]: others } = scenarios[scenario] ?? {}
    if (!rounds || !others) return undefined
    return median(
      rounds.flatMap((round, at) => {
        const beside = others[at]
        return beside ? [figure(round, beside)] : []
      }),
    )
  }
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

function ratio(figure: (round: Round) => number): (round: Round, beside: Round) => number {
  return (round, beside) => figure(round) / figure(beside)
}

function p50({ p50: latency }: Round): number {
  return latency
}

export function rate({ requests, seconds }: Round): number {
  return requests / seconds
}

export function frameRate({ frames, seconds }: Round): number {
  return frames / seconds
}
