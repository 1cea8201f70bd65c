export type { AccessControl } from './access-control.ts'
export { openAccess } from './open.ts'
export { startProblems, storageProblem, storeUnavailable } from './start-checks.ts'
