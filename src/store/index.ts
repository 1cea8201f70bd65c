export type * from './store.ts'
export { largestBudget, StoreFault, usageGroupings } from './store.ts'
export { usageRows, usageText } from './usage-text.ts'
