import type { DialectRequest, RequestHeaders } from '../../../core/endpoints.ts'
import type { Authorizer, CredentialContext } from '../../../core/provider-kind.ts'
import { fillInProject } from '../url.ts'
import {
  type GoogleCredentials,
  noCredential,
  parseGoogleCredentials,
  parseGoogleSecret,
} from './secret.ts'
import { tokenExchange } from './token.ts'
import { TokenCache } from './token-cache.ts'

/**
 * Returns the authorizer for a Google Cloud credential: an API key, an access token, or credentials
 * JSON that is exchanged for access tokens. The secret is the JSON itself or the path of its file.
 */
export function googleAuthorizer(context: CredentialContext): Authorizer {
  const secret = parseGoogleSecret(context.secret)
  switch (secret.kind) {
    case 'api-key':
      return fixedHeaders({ 'x-goog-api-key': secret.key })
    case 'token':
      return fixedHeaders({ authorization: bearer(secret.token) })
    case 'service-account':
    case 'authorized-user':
      return exchangedToken(secret, context)
    case 'file':
      return fileCredentials(secret.path, context)
    case 'unusable':
      return () => Promise.reject(noCredential(secret.problem))
    default:
      return secret satisfies never
  }
}

function fixedHeaders(headers: RequestHeaders): Authorizer {
  return () => headers
}

function exchangedToken(credentials: GoogleCredentials, context: CredentialContext): Authorizer {
  const { quotaProject } = credentials
  const tokens = new TokenCache(tokenExchange(credentials, context), context.clock)
  const authorize = async () => ({
    authorization: bearer(await tokens.current()),
    ...(quotaProject !== undefined && { 'x-goog-user-project': quotaProject }),
  })
  const renew = ({ authorization }: RequestHeaders) => {
    tokens.discard((token) => bearer(token) === authorization)
    return true
  }
  return Object.assign(authorize, { renew })
}

/** Reads the file on the first request, and again after a failure: it may be mounted later. */
function fileCredentials(path: string, context: CredentialContext): Authorizer {
  let ready: OpenedFile | undefined
  const open = async () => {
    if (!ready) {
      const credentials = parseGoogleCredentials(await readCredentialsFile(path, context))
      if (credentials.kind === 'unusable') throw noCredential(credentials.problem)
      const project = credentials.kind === 'service-account' ? credentials.project : undefined
      // Several requests may have waited for the file: all use the credentials of the first.
      ready ??= { authorize: exchangedToken(credentials, context), project }
    }
    return ready
  }
  const authorize = async (request: DialectRequest) => (await open()).authorize(request)
  const renew = (refused: RequestHeaders) => ready?.authorize.renew?.(refused) ?? false
  const complete = async (request: DialectRequest) => {
    const { project } = await open()
    return { ...request, url: fillInProject(request.url, project) }
  }
  return Object.assign(authorize, { renew, complete })
}

/** A credentials file that has been read. */
interface OpenedFile {
  readonly authorize: Authorizer
  readonly project: string | undefined
}

async function readCredentialsFile(
  path: string,
  { readFile, env }: CredentialContext,
): Promise<string> {
  if (!readFile) throw noCredential('it names a file, but this host cannot read files')
  const { HOME: home } = env
  try {
    return await readFile(home === undefined ? path : path.replace(/^~(?=\/)/, () => home))
  } catch (error) {
    throw noCredential('the file it names cannot be read', errorCode(error))
  }
}

/** The host's error code, such as `ENOENT`. Its message is not used, because it names the path. */
function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

function bearer(token: string): string {
  return `Bearer ${token}`
}
