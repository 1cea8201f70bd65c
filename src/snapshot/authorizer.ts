import type { Authorizer, Credential, CredentialContext, ProviderKind } from '../core/provider.ts'

/** Creates the function that adds the credential to requests; without a credential it adds nothing. */
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

/** True when it has read its credential from a file, whose content may change. */
export function isFromFile(authorize: Authorizer): boolean {
  return fromFiles.has(authorize)
}
