import type { Api, Capability } from '../core/capability.ts'
import type { NanoUsd } from '../core/ids.ts'
import type { RequestFilter } from './request-queries.ts'
import type { SpendText } from './spend-rows.ts'
import type { NewUsageRow, UsageValue } from './usage-columns.ts'
import type { UsageInterval } from './usage-interval.ts'

/** Rows that are written together. They are stored by column. */
export interface UsageBatch {
  /** Random; the same when the batch is sent again. */
  readonly id: string
  /** The number of rows. */
  readonly length: number
  /** Returns the rows as objects. */
  rows(): NewUsageRow[]
  /** Returns the texts of the prices that the rows name, by their ids. */
  prices(): ReadonlyMap<string, string>
  /** Returns the rows in the form for SQL. */
  text(): UsageText
}

/** A batch in the form for SQL. Columns that are equal in all rows, usually most, are sent once. */
export interface UsageText {
  /** The id of the batch. */
  readonly id: string
  /** The process with a shared state that has charged the rows. */
  readonly process?: string | undefined
  /** The first row, in the order of `usageColumns`. */
  readonly first: readonly UsageValue[]
  /** The indexes of the columns in which the rows differ. */
  readonly varying: readonly number[]
  /** A JSON array with one array per row: the values of those columns. */
  readonly rows: string
  /** The cost of the rows, by key and by group. */
  readonly spend: SpendText
  /** A JSON array: the id and the text of each of the prices that the rows name. */
  readonly prices: string
}

/** How a request is found in the usage log. */
export interface UsageRequest {
  readonly requestId: string
  readonly keyId: string
}

export interface UsageFindQuery {
  readonly requests: readonly UsageRequest[]
  /** Both inclusive, unix seconds. */
  readonly since: number
  readonly until: number
}

export interface UsageFindings {
  /** The latest id of the usage log before the search; 0 when it is empty. */
  readonly last: number
  readonly requests: readonly FoundRequest[]
}

export interface FoundRequest extends UsageRequest {
  /** It has only rows with LM-6002: other processes have taken its own for dead. */
  readonly isLost: boolean
}

/** What was charged for a request because its process was taken for dead: the sum of its rows with LM-6002. */
export interface LostCharge extends UsageRequest {
  readonly cost: NanoUsd
  /** The latest of these rows. */
  readonly row: number
}

/** A lost request, and the latest id of the usage log when it had no row. */
export interface LostLookup extends UsageRequest {
  readonly last: number
}

export interface UsageFilter {
  /** Both inclusive, unix seconds. */
  readonly since: number
  readonly until: number
  readonly keyId?: string | undefined
  readonly groupId?: string | undefined
  readonly model?: string | undefined
  readonly provider?: string | undefined
  readonly capability?: Capability | undefined
  readonly api?: Api | undefined
}

export const usageGroupings = [
  'model',
  'model_used',
  'provider',
  'capability',
  'api',
  'key_id',
  'group_id',
  'status',
  'tier',
  'total',
] as const
export type UsageGrouping = (typeof usageGroupings)[number]

export interface UsageSumQuery extends UsageFilter {
  readonly groupBy: UsageGrouping
  readonly limit: number
}

/** Sums over the rows of one group. `group` is empty when the column is null. */
export interface UsageSum {
  readonly group: string
  readonly requests: number
  readonly requestsOk: number
  readonly requestsClientError: number
  readonly requestsServerError: number
  readonly tokensIn: number
  readonly tokensOut: number
  readonly tokensTotal: number
  /** The part of `tokensIn` that vendors read from their caches of prompts. */
  readonly cachedTokens: number
  readonly estimatedRequests: number
  readonly upstreamRequests: number
  readonly searchUnits: number
  readonly mediaCount: number
  readonly mediaBytes: number
  readonly cost: NanoUsd
  /** The time of the latest row, in unix seconds. */
  readonly lastAt: number
}

export interface UsageIntervalQuery extends UsageSumQuery {
  readonly interval: UsageInterval
  /** Only these groups. */
  readonly groups: readonly string[]
}

/** Sums over the rows of one group in one interval. */
export interface UsageIntervalSum
  extends Pick<
    UsageSum,
    'group' | 'requests' | 'tokensIn' | 'tokensOut' | 'cachedTokens' | 'cost'
  > {
  /** The start of the interval in unix seconds, which may be before the window. */
  readonly start: number
}

/** What a row cost at later prices. */
export interface RepricedRow {
  /** The id of the row. */
  readonly id: number
  readonly cost: NanoUsd
}

export interface UsageListQuery extends RequestFilter {
  /** Both inclusive, unix seconds. */
  readonly since: number
  readonly until: number
  /** Only rows with a greater id. */
  readonly cursor: number
  readonly limit: number
}
