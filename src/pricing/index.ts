export { calculateCost, estimateMaxCost, estimateMaxTokens } from './cost.ts'
