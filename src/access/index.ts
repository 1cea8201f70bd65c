export { type AccessControl, openAccess, reasonOf, startProblems, unavailable } from './access.ts'
