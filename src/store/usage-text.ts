import type { Capability } from '../core/provider.ts'
import type { Metadata } from '../core/settlement.ts'
import { amountOf, moneyOf } from './money.ts'
import { largestBudget, type NewUsageRow, type UsageBatch, type UsageRow } from './store.ts'

/*
 * A row of the usage log on its way to the database and back is a JSON array, put together and taken
 * apart by SQL. One bound text for all rows is the fastest way in, and a row of one column the
 * fastest way out: the driver spends microseconds on every single value.
 */

/** The columns after the id, in the order of the array. */
export const usageColumns = [
  'ts',
  'request_id',
  'key_id',
  'group_id',
  'model',
  'model_used',
  'provider',
  'capability',
  'stream',
  'tokens_in',
  'tokens_out',
  'tokens_total',
  'estimated',
  'cached_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'search_units',
  'media_count',
  'media_bytes',
  'cost_usd',
  'cost_nano',
  'latency_ms',
  'ttft_ms',
  'attempts',
  'status',
  'error_code',
  'metadata',
] as const

/** A batch on its way in. What all of its rows have in common is sent once: most columns, as a rule. */
export interface UsageText {
  readonly id: string
  /** The first row, in the order of the columns. */
  readonly first: readonly UsageValue[]
  /** The columns in which the rows differ. */
  readonly varying: readonly number[]
  /** An array of arrays: of each row what is in those columns. */
  readonly rows: string
}

type UsageValue = string | number | boolean | null

export function usageText({ id, rows }: UsageBatch): UsageText {
  const table = rows.map(valuesOf)
  const [first = []] = table
  const varying = [...first.keys()].filter((at) => table.some((row) => row[at] !== first[at]))
  const rests = table.map((row) => varying.map((at) => row[at]))
  return { id, first, varying, rows: JSON.stringify(rests) }
}

/**
 * In the order of the columns. A number that its column cannot hold is brought into bounds: one odd
 * row must not keep back all others of its batch.
 */
function valuesOf(row: NewUsageRow): readonly UsageValue[] {
  const cost = amountOf(row.cost > largestBudget ? largestBudget : row.cost)
  return [
    whole(row.ts),
    row.requestId,
    row.keyId,
    row.groupId,
    row.model,
    row.modelUsed,
    row.provider,
    row.capability,
    row.stream,
    whole(row.tokensIn),
    whole(row.tokensOut),
    whole(row.tokensTotal),
    row.estimated,
    whole(row.cachedTokens),
    whole(row.cacheWriteTokens),
    whole(row.reasoningTokens),
    whole(row.searchUnits),
    whole(row.mediaCount),
    whole(row.mediaBytes),
    Number(cost.usd),
    Number(cost.nano),
    whole(row.latencyMs),
    row.ttftMs === null ? null : whole(row.ttftMs),
    whole(row.attempts),
    whole(row.status),
    row.errorCode,
    Object.keys(row.metadata).length === 0 ? null : JSON.stringify(row.metadata),
  ]
}

/** Rows as they come out: an array of arrays, each with the id in front. */
export function usageRows(text: string): UsageRow[] {
  // The columns were filled from rows.
  return (JSON.parse(text) as UsageTuple[]).map(usageRow)
}

type Flag = 0 | 1

type UsageTuple = readonly [
  id: number,
  ts: number,
  requestId: string,
  keyId: string,
  groupId: string | null,
  model: string,
  modelUsed: string | null,
  provider: string,
  capability: Capability,
  stream: Flag,
  tokensIn: number,
  tokensOut: number,
  tokensTotal: number,
  estimated: Flag,
  cachedTokens: number,
  cacheWriteTokens: number,
  reasoningTokens: number,
  searchUnits: number,
  mediaCount: number,
  mediaBytes: number,
  costUsd: number,
  costNano: number,
  latencyMs: number,
  ttftMs: number | null,
  attempts: number,
  status: number,
  errorCode: string | null,
  metadata: Metadata | null,
]

function usageRow(tuple: UsageTuple): UsageRow {
  return {
    id: tuple[0],
    ts: tuple[1],
    requestId: tuple[2],
    keyId: tuple[3],
    groupId: tuple[4],
    model: tuple[5],
    modelUsed: tuple[6],
    provider: tuple[7],
    capability: tuple[8],
    stream: tuple[9] === 1,
    tokensIn: tuple[10],
    tokensOut: tuple[11],
    tokensTotal: tuple[12],
    estimated: tuple[13] === 1,
    cachedTokens: tuple[14],
    cacheWriteTokens: tuple[15],
    reasoningTokens: tuple[16],
    searchUnits: tuple[17],
    mediaCount: tuple[18],
    mediaBytes: tuple[19],
    cost: moneyOf(tuple[20], tuple[21]),
    latencyMs: tuple[22],
    ttftMs: tuple[23],
    attempts: tuple[24],
    status: tuple[25],
    errorCode: tuple[26],
    metadata: tuple[27] ?? {},
  }
}

/** A whole number that a float holds exactly. */
function whole(value: number): number {
  if (Number.isNaN(value)) return 0
  return Math.round(Math.min(Math.max(value, -Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER))
}
