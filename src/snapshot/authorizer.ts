import type { Authorizer, Credential, CredentialContext, ProviderKind } from '../core/provider.ts'

/** The function that puts a credential on requests; without a credential it puts nothing on them. */
export function buildAuthorizer(
  kind: ProviderKind,
  credential: Credential,
  context: Omit<CredentialContext, 'secret'>,
): Authorizer {
  if (credential.kind !== 'secret') return () => noHeaders
  const { readFile } = context
  const authorize: Authorizer = kind.createAuthorizer({
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

const fromFiles = new WeakSet<Authorizer>()

/** True when it has read a file, which may hold another credential by now. */
export function isFromFile(authorize: Authorizer): boolean {
  return fromFiles.has(authorize)
}
