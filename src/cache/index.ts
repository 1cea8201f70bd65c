export {
  AnswerCache,
  type AnswerPlace,
  type CacheSettings,
} from './answer-cache.ts'
export type { CachedAnswer } from './answer-store.ts'
export { Flight } from './flight.ts'
