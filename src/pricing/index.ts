export {
  type AnsweredRequest,
  type AnswerPrice,
  priceAnswer,
} from './answer-price.ts'
export { calculateCost } from './cost.ts'
export { parsePrices } from './identify.ts'
export { type CostLine, listLines, type PricedPart, readFees, sumParts } from './parts.ts'
export {
  type ConfiguredEntry,
  createPriceTable,
  describeEntry,
  type PriceTableOptions,
  toBasePrices,
} from './price-table.ts'
export { type ConfiguredPrices, isPriced, readToolCosts, toPrices } from './prices.ts'
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
export { listReservedLines, type ReservedLine } from './reservation-lines.ts'
export { type ConfiguredWindow, createWindow } from './windows.ts'
