import type { Authorize, Credential, CredentialContext, ProviderKind } from '../core/provider.ts'

/** The function that puts a credential on requests; without a credential it puts nothing on them. */
export function buildAuthorizer(
  kind: ProviderKind,
  credential: Credential,
  context: Omit<CredentialContext, 'secret'>,
): Authorize {
  if (credential.kind !== 'secret') return () => noHeaders
  const { readFile } = context
  const authorize: Authorize = kind.authorizer({
    ...context,
    secret: credential.value,
    readFile:
      readFile &&
      ((path) => {
        fromFiles.add(authorize)
        return readFile(path)
      }),
  })
  return authorize
}

const noHeaders = Object.freeze({})

const fromFiles = new WeakSet<Authorize>()

/** True when it has read a file, which may hold another credential by now. */
export function isFromFile(authorize: Authorize): boolean {
  return fromFiles.has(authorize)
}
