export { ChoiceReader } from './read/choices.ts'
export { isFailedFinish } from './read/finish-reason.ts'
export {
  listProfileNames,
  type ProfileSource,
  type ResolvedProfile,
  resolveProfile,
} from './resolve.ts'
export { type WriteTarget, type WrittenRequest, writeRequest } from './write/write.ts'
