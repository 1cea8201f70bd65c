import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { budgetPeriods } from '../core/budget-period.ts'
import { priorities } from '../core/room.ts'
import { changeTopics } from './store.ts'
import type { UsageColumnName } from './usage-columns.ts'

/*
 * The tables. An amount of money takes two columns: whole dollars, and billionths of a dollar from
 * 0 to 999,999,999. Billionths alone would overflow at 9.2e9 USD, and text could not be summed.
 * Times are unix seconds. After a change here, run `npm run migrations`.
 */

export const budgetGroups = sqliteTable('budget_groups', {
  /** The order of creation. */
  seq: integer().primaryKey({ autoIncrement: true }),
  id: text().notNull().unique(),
  name: text().notNull(),
  /** Null: all models. */
  models: text({ mode: 'json' }).$type<readonly string[]>(),
  budgetMaxUsd: integer('budget_max_usd'),
  budgetMaxNano: integer('budget_max_nano'),
  /** Null: the budget is never reset. */
  budgetPeriod: text('budget_period', { enum: budgetPeriods }),
  /** When the term of the spend began; 0 before the first reset. */
  budgetSince: integer('budget_since').notNull().default(0),
  budgetResetsAt: integer('budget_resets_at'),
  /** The spend of the term. */
  budgetSpentUsd: integer('budget_spent_usd').notNull().default(0),
  budgetSpentNano: integer('budget_spent_nano').notNull().default(0),
  spentTotalUsd: integer('spent_total_usd').notNull().default(0),
  spentTotalNano: integer('spent_total_nano').notNull().default(0),
  rpmLimit: integer('rpm_limit'),
  tpmLimit: integer('tpm_limit'),
  maxParallel: integer('max_parallel'),
  priority: text({ enum: priorities }),
  createdAt: integer('created_at').notNull(),
  deletedAt: integer('deleted_at'),
})

export const virtualKeys = sqliteTable(
  'virtual_keys',
  {
    /** The order of creation. */
    seq: integer().primaryKey({ autoIncrement: true }),
    id: text().notNull().unique(),
    digest: text().notNull().unique(),
    /** The digest from before the last rotation, which is valid until `graceEndsAt`. */
    formerDigest: text('former_digest'),
    graceEndsAt: integer('grace_ends_at'),
    name: text().notNull(),
    groupId: text('group_id').references(() => budgetGroups.id),
    /** Null: all models. */
    models: text({ mode: 'json' }).$type<readonly string[]>(),
    budgetMaxUsd: integer('budget_max_usd'),
    budgetMaxNano: integer('budget_max_nano'),
    /** Null: the budget is never reset. */
    budgetPeriod: text('budget_period', { enum: budgetPeriods }),
    /** When the term of the spend began; 0 before the first reset. */
    budgetSince: integer('budget_since').notNull().default(0),
    budgetResetsAt: integer('budget_resets_at'),
    /** The spend of the term. */
    budgetSpentUsd: integer('budget_spent_usd').notNull().default(0),
    budgetSpentNano: integer('budget_spent_nano').notNull().default(0),
    spentTotalUsd: integer('spent_total_usd').notNull().default(0),
    spentTotalNano: integer('spent_total_nano').notNull().default(0),
    rpmLimit: integer('rpm_limit'),
    tpmLimit: integer('tpm_limit'),
    maxParallel: integer('max_parallel'),
    priority: text({ enum: priorities }),
    expiresAt: integer('expires_at'),
    disabled: integer({ mode: 'boolean' }).notNull(),
    createdAt: integer('created_at').notNull(),
    deletedAt: integer('deleted_at'),
  },
  (table) => [index('virtual_keys_group_id').on(table.groupId)],
)

/** The index of the usage log by time. */
export const usageLogByTime = 'usage_log_ts'

/** The index of the rows of failed requests. */
export const usageLogFailed = 'usage_log_failed'

export const usageLog = sqliteTable(
  'usage_log',
  {
    /** Not reused after a purge, so that cursors stay valid. */
    id: integer().primaryKey({ autoIncrement: true }),
    ts: integer().notNull(),
    requestId: text('request_id').notNull(),
    keyId: text('key_id').notNull(),
    groupId: text('group_id'),
    model: text().notNull(),
    modelUsed: text('model_used'),
    provider: text().notNull(),
    capability: text().notNull(),
    api: text().notNull(),
    stream: integer({ mode: 'boolean' }).notNull(),
    tokensIn: integer('tokens_in').notNull(),
    tokensOut: integer('tokens_out').notNull(),
    tokensTotal: integer('tokens_total').notNull(),
    estimated: integer({ mode: 'boolean' }).notNull(),
    cachedTokens: integer('cached_tokens').notNull(),
    cacheWriteTokens: integer('cache_write_tokens').notNull(),
    reasoningTokens: integer('reasoning_tokens').notNull(),
    searchUnits: integer('search_units').notNull(),
    mediaCount: integer('media_count').notNull(),
    mediaBytes: integer('media_bytes').notNull(),
    costUsd: integer('cost_usd').notNull(),
    costNano: integer('cost_nano').notNull(),
    latencyMs: integer('latency_ms').notNull(),
    ttftMs: integer('ttft_ms'),
    attempts: integer().notNull(),
    cacheHit: integer('cache_hit').notNull(),
    status: integer().notNull(),
    errorCode: text('error_code'),
    /** JSON; null when the client sent none. */
    metadata: text(),
    tier: text(),
    geo: text(),
    cacheWriteLongTokens: integer('cache_write_long_tokens'),
    audioTokensIn: integer('audio_tokens_in'),
    audioTokensOut: integer('audio_tokens_out'),
    imageTokensIn: integer('image_tokens_in'),
    imageTokensOut: integer('image_tokens_out'),
    /** JSON; null when the vendor ran no tool. */
    toolCalls: text('tool_calls'),
    costSource: text('cost_source'),
    costReportedUsd: integer('cost_reported_usd'),
    costReportedNano: integer('cost_reported_nano'),
    price: text(),
    /** JSON: see `Bill` of src/core/bill.ts; null when there is nothing to say. */
    bill: text(),
    queuedMs: integer('queued_ms'),
    /** JSON: see `RequestFailure` of src/core/request-failure.ts; null when there is nothing to say. */
    failure: text(),
  } satisfies Record<'id' | UsageColumnName, unknown>,
  (table) => [
    index(usageLogByTime).on(table.ts),
    // Of few rows, so that failed requests are found without reading the others.
    index(usageLogFailed).on(table.id).where(sql`status >= 400`),
    // The few rows of lost requests.
    index('usage_log_lost').on(table.requestId, table.keyId).where(sql`error_code = 'LM-6002'`),
  ],
)

/**
 * The last requests that were refused before they had a row in the usage log: without a valid key, malformed, for an
 * unknown model, or for one that the key may not use. They count in no sum. Both their number and their age are limited.
 */
export const refusedRequests = sqliteTable(
  'refused_requests',
  {
    /** Not reused after a purge, so that cursors stay valid. */
    id: integer().primaryKey({ autoIncrement: true }),
    ts: integer().notNull(),
    requestId: text('request_id').notNull(),
    keyId: text('key_id'),
    groupId: text('group_id'),
    api: text().notNull(),
    stream: integer({ mode: 'boolean' }).notNull(),
    /** What the client asked for; null where it is not known. */
    model: text(),
    status: integer().notNull(),
    errorCode: text('error_code'),
    /** As in the usage log. */
    failure: text(),
    latencyMs: integer('latency_ms').notNull(),
    /** How many alike requests the row stands for, itself included. */
    count: integer().notNull(),
  },
  (table) => [index('refused_requests_ts').on(table.ts)],
)

/** The prices that rows of the usage log name in `bill`. */
export const prices = sqliteTable('prices', {
  /** The hash of the text. */
  id: text().primaryKey(),
  /** JSON, as `identifyPrices` of src/pricing writes it. */
  prices: text().notNull(),
})

export const auditLog = sqliteTable(
  'audit_log',
  {
    /** Not reused after a purge, so that cursors stay valid. */
    id: integer().primaryKey({ autoIncrement: true }),
    ts: integer().notNull(),
    action: text().notNull(),
    subjectId: text('subject_id'),
    requestId: text('request_id'),
    client: text(),
  },
  (table) => [index('audit_log_ts').on(table.ts)],
)

export const sealedValues = sqliteTable(
  'sealed_values',
  {
    purpose: text().notNull(),
    name: text().notNull(),
    sealed: text().notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.purpose, table.name] })],
)

export const webhookSettings = sqliteTable('webhook_settings', {
  /** Always 1: there is one receiver. */
  id: integer().primaryKey(),
  enabled: integer({ mode: 'boolean' }).notNull(),
  /** JSON. */
  settings: text().notNull(),
  updatedAt: integer('updated_at').notNull(),
})

/**
 * Counts the changes of each topic, so that other processes notice them. Triggers count, in the transaction
 * of the change: see the first migration, where they are written by hand. What only adds spend to a key or a
 * group is no change.
 */
export const changeCounts = sqliteTable('change_counts', {
  topic: text({ enum: changeTopics }).primaryKey(),
  count: integer().notNull(),
})

/** The count of accounts at the last change of each key and group that has changed. */
export const changedAccounts = sqliteTable(
  'changed_accounts',
  {
    /** The id of a key or a group. */
    subject: text().primaryKey(),
    count: integer().notNull(),
  },
  (table) => [index('changed_accounts_count').on(table.count)],
)

/** The ids of written batches, so that a batch which is sent again is not written twice. */
export const writtenBatches = sqliteTable(
  'written_batches',
  {
    id: text().primaryKey(),
    writtenAt: integer('written_at').notNull(),
  },
  (table) => [index('written_batches_written_at').on(table.writtenAt)],
)

/**
 * The part of the spend that each process with a shared state has saved. Once that state is lost, it shows
 * which charges of a running process the saved spend already contains.
 */
export const processSpend = sqliteTable(
  'process_spend',
  {
    process: text().notNull(),
    /** The id of a key or a group. */
    subject: text().notNull(),
    /** The latest term that the process has charged, and its charges to it. */
    since: integer().notNull(),
    termUsd: integer('term_usd').notNull(),
    termNano: integer('term_nano').notNull(),
    totalUsd: integer('total_usd').notNull(),
    totalNano: integer('total_nano').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.process, table.subject] }),
    index('process_spend_subject').on(table.subject),
  ],
)

/** The gateway, or one of the gateways, that uses the database. */
export const gatewayLease = sqliteTable('gateway_lease', {
  /** Always 1: there is one lease. */
  id: integer().primaryKey(),
  /** Random, the same for the life of a process. */
  holder: text().notNull(),
  /** A readable description of the process. */
  process: text().notNull(),
  /** The state that it shares with other gateways, as `writeHeldState` writes it; null when it shares none. */
  sharing: text(),
  /** Unix milliseconds by the clock of the database. */
  endsAt: integer('ends_at').notNull(),
})
