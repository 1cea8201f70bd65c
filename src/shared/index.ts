export { listUrlProblems, nameSharing, openSharedState } from './open.ts'
