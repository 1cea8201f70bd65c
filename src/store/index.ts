export { SpendSums } from './spend-text.ts'
export type * from './store.ts'
export { databaseInUse, largestBudget, StoreFault, usageGroupings } from './store.ts'
export { UsageTable, usageRows } from './usage-text.ts'
