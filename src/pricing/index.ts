export { calculateCost } from './cost.ts'
export { isPriced, toPrices } from './prices.ts'
export {
  estimateMaxCost,
  estimateMaxLinkCost,
  estimateMaxOutput,
  estimateMaxTokens,
  findPromptPrice,
  type PromptPrice,
} from './reservation.ts'
