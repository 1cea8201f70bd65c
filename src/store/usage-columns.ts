import type { BilledAnswer, IdentifiedPrices } from '../core/bill.ts'
import type { BudgetTerm } from '../core/budget-period.ts'
import type { Api, Capability } from '../core/capability.ts'
import type { NanoUsd } from '../core/ids.ts'
import type { Metadata } from '../core/metadata.ts'
import { toUsd } from '../core/money.ts'
import { joinAmount, maxBudget, toBillionths, toWholeUsd } from './money.ts'

/**
 * The fields of a usage row, in the order of the table and of the JSON, which `readFields` repeats. The
 * types of a row, the check of the schema, the insert, the select and the export derive from it.
 */
const definitions = {
  /** When the request ended, unix seconds. */
  ts: integer('ts'),
  requestId: text('request_id'),
  keyId: text('key_id'),
  /** The key's group when the request was admitted. */
  groupId: nullable(text('group_id')),
  /** The model that the client asked for. */
  model: text('model'),
  /** The model that served; null when none did. */
  modelUsed: nullable(text('model_used')),
  /** The provider that served; the requested model's provider when none did. */
  provider: text('provider'),
  capability: text<Capability>('capability'),
  api: text<Api>('api'),
  stream: flag('stream'),
  tokensIn: integer('tokens_in'),
  tokensOut: integer('tokens_out'),
  tokensTotal: integer('tokens_total'),
  /** Whether the gateway counted the tokens instead of the provider. */
  estimated: flag('estimated'),
  cachedTokens: integer('cached_tokens'),
  cacheWriteTokens: integer('cache_write_tokens'),
  reasoningTokens: integer('reasoning_tokens'),
  searchUnits: integer('search_units'),
  mediaCount: integer('media_count'),
  mediaBytes: integer('media_bytes'),
  cost: money('cost'),
  latencyMs: integer('latency_ms'),
  ttftMs: nullable(integer('ttft_ms')),
  attempts: integer('attempts'),
  /** The answer came from the cache. */
  cacheHit: flag('cache_hit'),
  status: integer('status'),
  errorCode: nullable(text('error_code')),
  metadata: json('metadata'),
  /** The service tier that served; null when neither the answer nor the request names one. */
  tier: nullable(text('tier')),
  geo: nullable(text('geo')),
  /** The part of `cacheWriteTokens` written for an hour or longer; null in rows of former versions. */
  cacheWriteLongTokens: nullable(integer('cache_write_long_tokens')),
  audioTokensIn: nullable(integer('audio_tokens_in')),
  audioTokensOut: nullable(integer('audio_tokens_out')),
  imageTokensIn: nullable(integer('image_tokens_in')),
  imageTokensOut: nullable(integer('image_tokens_out')),
  /** How often the vendor ran each of its tools. */
  toolCalls: counts('tool_calls'),
  /** How `cost` was found; null for a request that has none. */
  costSource: nullable(text<CostSource>('cost_source')),
  /** What the vendor says that it charges. */
  costReported: nullableMoney('cost_reported'),
  /** The entries of the prices that held; null for the base. */
  price: nullable(text('price')),
  /** What else there is to say of the bill, as `writeBill` writes it; null for nothing. */
  bill: nullable(text('bill')),
  /** How long the request waited for room at upstreams; null when it did not. */
  queuedMs: nullable(integer('queued_ms')),
  /** Why the request was refused, and which links failed, as `writeFailure` writes it; null for neither. */
  failure: nullable(text('failure')),
}

type Definitions = typeof definitions

/** One accounted request. It never holds prompts or answers. */
export type NewUsageRow = {
  readonly [Field in keyof Definitions]: ValueOf<Definitions[Field]>
}

/** What a row says of a bill that states nothing but tokens of text, at the prices of the base. */
export const plainBill = Object.freeze({
  tier: null,
  geo: null,
  cacheWriteLongTokens: 0,
  audioTokensIn: null,
  audioTokensOut: null,
  imageTokensIn: null,
  imageTokensOut: null,
  toolCalls: null,
  costSource: 'calculated',
  costReported: null,
  price: null,
  bill: null,
} satisfies Partial<NewUsageRow>)

/** A row with the terms of the budgets that it is charged to; by default their first terms. */
export interface ChargedRow extends NewUsageRow {
  readonly keyTerm?: BudgetTerm | undefined
  readonly groupTerm?: BudgetTerm | undefined
  /** The prices that `bill` names: of all counts, or of each part of the answers. */
  readonly vectors?: IdentifiedPrices | readonly BilledAnswer[] | undefined
}

type ValueOf<Type> = Type extends Definition<infer Value> ? Value : never

/** A row of the usage log. Ids increase. */
export interface UsageRow extends NewUsageRow {
  readonly id: number
}

/** The columns of the table, as Drizzle names them, without the id. */
export type UsageColumnName =
  | Exclude<keyof Definitions, 'cost' | 'costReported'>
  | `${'cost' | 'costReported'}${'Usd' | 'Nano'}`

/** A value as a column holds it. */
export type UsageValue = string | number | null

/** How a field is named in JSON and stored. Without a function, values stay as they are. */
interface Definition<Value> {
  readonly jsonName: string
  readonly columns: readonly {
    /** The column name is the field name with this suffix. */
    readonly suffix: string
    readonly write?: (value: Value) => UsageValue
    /** The value that says nothing. */
    readonly blank: UsageValue
  }[]
  /** Reads the value from the columns of a row; `at` is the first column of the field. */
  readonly read?: (columns: readonly unknown[], at: number) => Value
  readonly toJson?: (value: Value) => unknown
}

/**
 * How a cost was found: from prices and the vendor's counts, from what the vendor states, from prices and counts of which some are estimated,
 * from prices of which some are of another model, or not charged because the cache answered.
 */
export const costSources = ['calculated', 'reported', 'estimated', 'approximate', 'free'] as const
export type CostSource = (typeof costSources)[number]

function text<Value extends string>(jsonName: string): Definition<Value> {
  return { jsonName, columns: [{ suffix: '', blank: '' }] }
}

function integer(jsonName: string): Definition<number> {
  return { jsonName, columns: [{ suffix: '', write: clampInteger, blank: 0 }] }
}

/** Clamps a number to what a column can hold: one odd row must not make its whole batch fail. */
function clampInteger(value: number): number {
  if (Number.isSafeInteger(value)) return value
  if (Number.isNaN(value)) return 0
  return Math.round(Math.min(Math.max(value, -Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER))
}

function flag(jsonName: string): Definition<boolean> {
  return {
    jsonName,
    columns: [{ suffix: '', write: Number, blank: 0 }],
    read: (columns, at) => columns[at] === 1,
  }
}

function money(jsonName: string): Definition<NanoUsd> {
  return {
    jsonName,
    columns: [
      { suffix: 'Usd', write: (cost) => Number(toWholeUsd(clampCost(cost))), blank: 0 },
      { suffix: 'Nano', write: (cost) => Number(toBillionths(clampCost(cost))), blank: 0 },
    ],
    read: (columns, at) => joinAmount(Number(columns[at]), Number(columns[at + 1])),
    toJson: toUsd,
  }
}

function nullableMoney(jsonName: string): Definition<NanoUsd | null> {
  const { columns, read } = money(jsonName)
  return {
    jsonName,
    columns: columns.map(({ suffix, write }) => ({
      suffix,
      write: (cost) => (cost === null ? null : (write?.(cost) ?? null)),
      blank: null,
    })),
    read: (values, at) => (values[at] === null ? null : (read?.(values, at) ?? null)),
    toJson: (cost) => (cost === null ? null : toUsd(cost)),
  }
}

/** Clamps a cost to what its columns can hold. */
export function clampCost(cost: NanoUsd): NanoUsd {
  return cost > maxBudget ? maxBudget : cost
}

/** Stored as text, or null when empty. The select embeds the text, so `read` gets it parsed. */
function json(jsonName: string): Definition<Metadata> {
  return {
    jsonName,
    columns: [
      {
        suffix: '',
        write: (value) => (Object.keys(value).length === 0 ? null : JSON.stringify(value)),
        blank: null,
      },
    ],
    read: (columns, at) => {
      const value = columns[at]
      // The column only contains values from `write`.
      return ((typeof value === 'string' ? JSON.parse(value) : value) ?? {}) as Metadata
    },
  }
}

/** Counts by their names, stored as text, or null when there are none. */
function counts(jsonName: string): Definition<Readonly<Record<string, number>> | null> {
  return {
    jsonName,
    columns: [
      {
        suffix: '',
        write: (value) => (value === null ? null : JSON.stringify(value)),
        blank: null,
      },
    ],
    read: (columns, at) => {
      const value = columns[at]
      // The column only contains values from `write`.
      return (typeof value === 'string' ? JSON.parse(value) : (value ?? null)) as Readonly<
        Record<string, number>
      > | null
    },
  }
}

/** Only for definitions without `read` and `toJson`. */
function nullable<Value>({ jsonName, columns }: Definition<Value>): Definition<Value | null> {
  const write = columns[0]?.write
  if (!write) return { jsonName, columns: [{ suffix: '', blank: null }] }
  return {
    jsonName,
    columns: [
      { suffix: '', write: (value) => (value === null ? null : write(value)), blank: null },
    ],
  }
}

/** A column and how it is filled from a row. */
export interface UsageColumn {
  readonly name: UsageColumnName
  /** The index of its field in `readFields`. */
  readonly place: number
  /** Undefined where the column holds the value of the field as it is. */
  readonly write: ((value: unknown) => UsageValue) | undefined
  readonly blank: UsageValue
}

/** A field and how it is read from the columns of a row. */
export interface UsageField {
  readonly field: keyof NewUsageRow
  readonly jsonName: string
  /** The index of its first column. */
  readonly at: number
  readonly read: ((columns: readonly unknown[], at: number) => unknown) | undefined
  readonly toJson: ((value: unknown) => unknown) | undefined
}

// The keys are the fields, and each definition only meets values of its own field.
const entries = Object.entries(definitions) as [keyof NewUsageRow, Definition<unknown>][]

export const usageColumns: readonly UsageColumn[] = entries.flatMap(([field, { columns }], place) =>
  columns.map(({ suffix, write, blank }) => ({
    name: `${field}${suffix}` as UsageColumnName,
    place,
    write,
    blank,
  })),
)

export const usageFields: readonly UsageField[] = entries.map(
  ([field, { jsonName, read, toJson }], place) => {
    const at = usageColumns.findIndex((column) => column.place === place)
    return { field, jsonName, at, read, toJson }
  },
)

/**
 * Returns the fields of a row in the order of the definitions. It names each of them: to read them by the
 * names of a list takes several times as long, and this runs for every accounted request.
 */
export function readFields(row: NewUsageRow): readonly unknown[] {
  return [
    row.ts,
    row.requestId,
    row.keyId,
    row.groupId,
    row.model,
    row.modelUsed,
    row.provider,
    row.capability,
    row.api,
    row.stream,
    row.tokensIn,
    row.tokensOut,
    row.tokensTotal,
    row.estimated,
    row.cachedTokens,
    row.cacheWriteTokens,
    row.reasoningTokens,
    row.searchUnits,
    row.mediaCount,
    row.mediaBytes,
    row.cost,
    row.latencyMs,
    row.ttftMs,
    row.attempts,
    row.cacheHit,
    row.status,
    row.errorCode,
    row.metadata,
    row.tier,
    row.geo,
    row.cacheWriteLongTokens,
    row.audioTokensIn,
    row.audioTokensOut,
    row.imageTokensIn,
    row.imageTokensOut,
    row.toolCalls,
    row.costSource,
    row.costReported,
    row.price,
    row.bill,
    row.queuedMs,
    row.failure,
  ]
}
