export { CloudCredentials } from './cloud-credentials.ts'
export type { CloudQuery } from './renewed-credential.ts'
