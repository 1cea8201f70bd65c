export { calculateCost } from './cost.ts'
export { isPriced, toPrices } from './prices.ts'
export { estimateMaxCost, estimateMaxTokens } from './reservation.ts'
