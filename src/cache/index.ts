export {
  AnswerCache,
  type CacheSettings,
} from './answer-cache.ts'
export { toScope } from './answer-key.ts'
export type { AnswerPlace, CachedAnswer } from './answer-store.ts'
export { Flight } from './flight.ts'
export type { LocatedRequest } from './repeats.ts'
export { SharedAnswers, type SharedAnswersOptions } from './shared-answers.ts'
