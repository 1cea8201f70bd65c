export { calculateCost } from './cost.ts'
export { isPriced, toPrices } from './prices.ts'
export { estimateMaxCost, estimateMaxLinkCost, estimateMaxTokens } from './reservation.ts'
