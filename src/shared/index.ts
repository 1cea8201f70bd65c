export { listUrlProblems, openSharedState } from './open.ts'
