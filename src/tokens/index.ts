export { estimateChat, promptTokens, tokensOfBytes } from './heuristic.ts'
