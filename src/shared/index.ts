export { answerForClaim, meetClaims } from './claims.ts'
export { listUrlProblems, nameSharing, openSharedState } from './open.ts'
