export { calculateCost } from './cost.ts'
export { toPrices } from './prices.ts'
export { estimateMaxCost, estimateMaxTokens } from './reservation.ts'
