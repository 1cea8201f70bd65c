export {
  type AnsweredRequest,
  type AnswerPrice,
  priceAnswer,
} from './answer-price.ts'
export { calculateCost } from './cost.ts'
export { createPriceTable, type PriceTableOptions, toBasePrices } from './price-table.ts'
export { isPriced, readToolCosts, toPrices } from './prices.ts'
export {
  type DearestPrices,
  estimateMaxCost,
  estimateMaxLinkCost,
  estimateMaxOutput,
  estimateMaxTokens,
  findDearest,
  type PromptPrice,
  type ReservedTool,
} from './reservation.ts'
