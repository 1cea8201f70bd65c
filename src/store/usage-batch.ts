import type { Capability } from '../core/capability.ts'
import type { NanoUsd } from '../core/ids.ts'
import type { Metadata } from '../core/metadata.ts'
import { joinAmount, splitAmount } from './money.ts'
import type { usageLog } from './schema.ts'
import { SpendSums } from './spend-text.ts'
import {
  maxBudget,
  type NewUsageRow,
  type UsageBatch,
  type UsageRow,
  type UsageText,
  type UsageValue,
} from './store.ts'

/*
 * A row of the usage log on its way to the database and back is a JSON array, put together and taken
 * apart by SQL. One bound text for all rows is the fastest way in, and a row of one column the
 * fastest way out: the driver spends microseconds on every single value.
 */

/** The columns of the table but the id, in the order of the array. */
export const usageFields = [
  'ts',
  'requestId',
  'keyId',
  'groupId',
  'model',
  'modelUsed',
  'provider',
  'capability',
  'stream',
  'tokensIn',
  'tokensOut',
  'tokensTotal',
  'estimated',
  'cachedTokens',
  'cacheWriteTokens',
  'reasoningTokens',
  'searchUnits',
  'mediaCount',
  'mediaBytes',
  'costUsd',
  'costNano',
  'latencyMs',
  'ttftMs',
  'attempts',
  'status',
  'errorCode',
  'metadata',
] as const satisfies readonly Exclude<keyof typeof usageLog.$inferSelect, 'id'>[]

/** A batch to which rows are added, until it is sent. Of what its rows share hardly anything is kept. */
export class UsageBatchBuilder implements UsageBatch {
  readonly id: string
  #length = 0
  /** The first row. */
  #first: UsageValue[] = []
  /** By column: the values of all rows, where they differ. */
  readonly #varying: (UsageValue[] | undefined)[] = usageFields.map(() => undefined)
  readonly #spend = new SpendSums()

  constructor(id: string) {
    this.id = id
  }

  get length(): number {
    return this.#length
  }

  /** What the rows cost together. */
  get cost(): NanoUsd {
    return this.#spend.total('key')
  }

  add(row: NewUsageRow): void {
    const cost = row.cost > maxBudget ? maxBudget : row.cost
    const values = valuesOf(row, cost)
    this.#spend.add('key', row.keyId, cost)
    if (row.groupId !== null) this.#spend.add('group', row.groupId, cost)
    if (this.#length === 0) this.#first = values
    for (let at = 0; at < values.length; at++) {
      const value = values[at] as UsageValue
      const column = this.#varying[at]
      if (column) column.push(value)
      else if (value !== this.#first[at]) this.#varying[at] = [...this.#alike(at), value]
    }
    this.#length++
  }

  rows(): NewUsageRow[] {
    const columns = this.#first.map((_, at) => this.#varying[at] ?? this.#alike(at))
    return this.#each((row) => newRow(columns.map((column) => column[row] as UsageValue)))
  }

  text(): UsageText {
    const varying = [...this.#varying.keys()].filter((at) => this.#varying[at])
    const rows = this.#each((row) => varying.map((at) => this.#varying[at]?.[row]))
    return {
      id: this.id,
      first: this.#first,
      varying,
      rows: JSON.stringify(rows),
      spend: this.#spend.text(),
    }
  }

  #each<Result>(result: (row: number) => Result): Result[] {
    return Array.from({ length: this.#length }, (_, row) => result(row))
  }

  /** A column of which every row so far has what the first one has. */
  #alike(at: number): UsageValue[] {
    return Array<UsageValue>(this.#length).fill(this.#first[at] as UsageValue)
  }
}

/**
 * In the order of the columns. A number that its column cannot hold is brought into bounds: one odd
 * row must not keep back all others of its batch.
 */
function valuesOf(row: NewUsageRow, rowCost: NanoUsd): UsageValue[] {
  const cost = splitAmount(rowCost)
  return [
    whole(row.ts),
    row.requestId,
    row.keyId,
    row.groupId,
    row.model,
    row.modelUsed,
    row.provider,
    row.capability,
    Number(row.stream),
    whole(row.tokensIn),
    whole(row.tokensOut),
    whole(row.tokensTotal),
    Number(row.estimated),
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

/** The row that `valuesOf` has taken apart. */
function newRow(values: readonly UsageValue[]): NewUsageRow {
  const metadata = values.at(-1)
  const parsed = typeof metadata === 'string' ? JSON.parse(metadata) : null
  // In the order of the columns.
  const { id: _, ...row } = usageRow([0, ...values.slice(0, -1), parsed] as unknown as UsageTuple)
  return row
}

/** Rows as they come out: an array of arrays, each with the id in front. */
export function parseUsageRows(text: string): UsageRow[] {
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
    cost: joinAmount(tuple[20], tuple[21]),
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
  if (Number.isSafeInteger(value)) return value
  if (Number.isNaN(value)) return 0
  return Math.round(Math.min(Math.max(value, -Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER))
}
