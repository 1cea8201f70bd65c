export { calculateCost } from './cost.ts'
export { isPriced, toPrices } from './prices.ts'
export {
  estimateMaxCost,
  estimateMaxLinkCost,
  estimateMaxOutput,
  estimateMaxTokens,
} from './reservation.ts'
