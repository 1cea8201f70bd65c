export { countExactly, type TokenCountInput, toChatCountInput } from './bpe.ts'
export { estimateEmbedTokens, estimateItemTokens, toEmbedCountInput } from './embeddings.ts'
export { findEncoding } from './encoding.ts'
export {
  createEstimatedUsage,
  estimateImageTokens,
  estimatePromptTokens,
  estimateRerankTokens,
  estimateTextTokens,
  type PromptBytes,
  sumPromptTokens,
  tokensPerMessage,
  tokensPerReply,
} from './heuristic.ts'
