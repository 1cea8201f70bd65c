export { estimateEmbed, itemTokens } from './embeddings.ts'
export { estimateChat, promptTokens, tokensOfBytes } from './heuristic.ts'
export { estimateRerank } from './rerank.ts'
