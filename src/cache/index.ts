export {
  AnswerCache,
  type AnswerPlace,
  type CacheSettings,
} from './answer-cache.ts'
export type { CachedAnswer, FoundAnswer } from './answer-store.ts'
