export type * from './account-rows.ts'
export type { Journal, LeftBatch, LeftUsage } from './journal.ts'
export { JournalLineReader, type JournalRow } from './journal-line.ts'
export { joinAmount, maxBudget, splitAmount } from './money.ts'
export type * from './request-queries.ts'
export { refusedKept } from './request-queries.ts'
export type * from './spend-rows.ts'
export { SpendSums, type SpentRow } from './spend-text.ts'
export type * from './store.ts'
export {
  auditedMethods,
  changeTopics,
  databaseInUse,
  databaseMissing,
  databaseShared,
  StoreFault,
  sealedPurposes,
  storeMethods,
} from './store.ts'
export { UsageBatchBuilder } from './usage-batch.ts'
export {
  type ChargedRow,
  type CostSource,
  costSources,
  type NewUsageRow,
  plainBill,
  type UsageRow,
  usageFields,
} from './usage-columns.ts'
export {
  listIntervals,
  startOfInterval,
  type UsageInterval,
  usageIntervals,
} from './usage-interval.ts'
export type * from './usage-queries.ts'
export { usageGroupings } from './usage-queries.ts'
export { parseUsageRows } from './usage-values.ts'
