import { noCredential, parseGoogleCredentials } from './secret.ts'
import { type TokenPorts, tokenExchange } from './token.ts'
import type { FreshToken } from './token-cache.ts'

/** A token, with the projects that the credentials name. */
export interface FileToken extends FreshToken {
  readonly project: string | undefined
  readonly quotaProject: string | undefined
}

/**
 * Exchanges the credentials JSON of a service account or of a signed-in user for an access token. Rejects
 * with an `UpstreamFault`, also when the text is not such JSON.
 */
export async function exchangeGoogleFile(text: string, ports: TokenPorts): Promise<FileToken> {
  const credentials = parseGoogleCredentials(text)
  if (credentials.kind === 'unusable') throw noCredential(credentials.problem)
  const fresh = await tokenExchange(credentials, ports)()
  const project = credentials.kind === 'service-account' ? credentials.project : undefined
  return { ...fresh, project, quotaProject: credentials.quotaProject }
}
