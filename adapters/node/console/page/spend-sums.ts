import { read } from './api.ts'
import type { UsageGroup } from './shapes.ts'
import { type Dimension, dimensions, type Narrowing } from './spend-dimensions.ts'
import { listStarts, type Span } from './spend-span.ts'

/** The parameter and grouping of the admin API. */
const fields = { group: 'group_id', key: 'key_id', model: 'model', provider: 'provider' } as const

export interface SpendQuery {
  readonly span: Span
  readonly by: Dimension
  readonly narrowing: Narrowing
}

/** The sums of a query. */
export interface Sums extends SpendQuery {
  /** The starts of the intervals. */
  readonly starts: readonly number[]
  /** The dearest first. */
  readonly groups: readonly UsageGroup[]
  /** Whether there are more groups than these. */
  readonly isTruncated: boolean
  /** The cost of the time of the same length before. */
  readonly costBefore: number
}

/** The most that an answer of the gateway has. */
const maxIntervals = 50_000
const maxGroups = 1000

/** Reads the sums of a query. Rejects with an `ApiError`. */
export async function readSums(query: SpendQuery): Promise<Sums> {
  const { span, by, narrowing } = query
  const { since, until, interval } = span
  const starts = listStarts(span)
  const limit = Math.min(maxGroups, Math.floor(maxIntervals / starts.length))
  const [answer, before] = await Promise.all([
    readUsage(
      { since, until: until - 1, group_by: fields[by], interval: interval.name, limit },
      narrowing,
    ),
    readUsage({ since: since - (until - since), until: since - 1, group_by: 'total' }, narrowing),
  ])
  const costBefore = before.groups[0]?.cost ?? 0
  return { ...query, starts, groups: answer.groups, isTruncated: answer.truncated, costBefore }
}

interface UsageAnswer {
  readonly groups: readonly UsageGroup[]
  readonly truncated: boolean
}

function readUsage(
  parameters: Readonly<Record<string, string | number>>,
  narrowing: Narrowing,
): Promise<UsageAnswer> {
  const given = Object.entries(parameters).map(([name, value]) => [name, String(value)])
  const narrowed = dimensions.flatMap((dimension) => {
    const value = narrowing[dimension]
    return value === undefined ? [] : [[fields[dimension], value]]
  })
  return read<UsageAnswer>(`/admin/usage?${new URLSearchParams([...given, ...narrowed])}`)
}
