export { SpendSums } from './spend-text.ts'
export type * from './store.ts'
export { databaseInUse, maxBudget, StoreFault, usageGroupings } from './store.ts'
export { parseUsageRows, UsageBatchBuilder } from './usage-batch.ts'
