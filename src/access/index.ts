export type { AccessControl } from './access-control.ts'
export { createDatabaseRoutes } from './database-routes.ts'
export { openAccess } from './open.ts'
export { startProblems, storageProblem, storeUnavailable } from './start-checks.ts'
