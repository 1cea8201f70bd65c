import type { GatewayStart } from './gateway.ts'
import { median } from './measure.ts'
import type { Round, Rounds } from './rounds.ts'
import type { SubjectName } from './subjects.ts'

export interface Results {
  readonly start?: GatewayStart | undefined
  /** By the name of the scenario. */
  readonly scenarios: Readonly<Record<string, Rounds>>
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

/** Holds the results against every target whose scenario and subjects were measured. */
export function judge(results: Results): Verdict[] {
  return targets.flatMap(({ value: valueOf, ...target }) => {
    const value = valueOf(results)
    if (value === undefined) return []
    const met = target.bound === 'at least' ? value >= target.limit : value <= target.limit
    return [{ ...target, value, met }]
  })
}

const targets: readonly Target[] = [
  {
    title: 'small JSON at 32 connections, rate against baseline',
    bound: 'at least',
    limit: 0.5,
    unit: 'x',
    value: compare('json32', 'baseline', (gateway, other) => rate(gateway) / rate(other)),
  },
  {
    title: 'small JSON at 32 connections, rate against portkey',
    bound: 'at least',
    limit: 8,
    unit: 'x',
    value: compare('json32', 'portkey', (gateway, other) => rate(gateway) / rate(other)),
  },
  {
    title: 'streamed frames at 16 connections, rate against baseline',
    bound: 'at least',
    limit: 0.7,
    unit: 'x',
    value: compare('stream', 'baseline', (gateway, other) => frameRate(gateway) / frameRate(other)),
  },
  {
    title: 'small JSON at 1 connection, p50 over baseline',
    bound: 'at most',
    limit: 1,
    unit: 'ms',
    value: compare('json1', 'baseline', (gateway, other) => gateway.p50 - other.p50),
  },
  {
    title: 'stream at 1 connection, first byte p50 over baseline',
    bound: 'at most',
    limit: 2,
    unit: 'ms',
    value: compare(
      'firstbyte',
      'baseline',
      (gateway, other) => gateway.firstByte - other.firstByte,
    ),
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

/** Compares the gateway with another subject round by round, and takes the median. */
function compare(
  scenario: string,
  other: SubjectName,
  figure: (gateway: Round, other: Round) => number,
): Target['value'] {
  return ({ scenarios }) => {
    const { gateway, [other]: others } = scenarios[scenario] ?? {}
    if (!gateway || !others) return undefined
    return median(
      gateway.flatMap((round, at) => {
        const beside = others[at]
        return beside ? [figure(round, beside)] : []
      }),
    )
  }
}

export function rate({ requests, seconds }: Round): number {
  return requests / seconds
}

export function frameRate({ frames, seconds }: Round): number {
  return frames / seconds
}
