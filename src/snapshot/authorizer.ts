import { type CloudSource, cloudNames } from '../core/cloud-credential.ts'
import type { Credential, Provider, UsableCredential } from '../core/provider.ts'
import type { Authorizer, CredentialContext, ProviderKind } from '../core/provider-kind.ts'

export interface UsableOptions extends Omit<CredentialContext, 'secret'> {
  /** The same provider in the previous snapshot, whose access tokens stay in use. */
  readonly kept: Provider | undefined
  /** The credential that a cloud provides. */
  readonly cloud: CloudSource | undefined
}

/** Creates the credentials that requests can carry. Without a secret there is one, which adds nothing. */
export function buildUsable(
  kind: ProviderKind,
  credentials: readonly Credential[],
  { kept, cloud, ...context }: UsableOptions,
): readonly UsableCredential[] {
  if (kept) return kept.usable.map((credential) => ({ ...credential }))
  return credentials.flatMap((credential) => {
    switch (credential.kind) {
      case 'secret': {
        const { name, value } = credential
        return { name, secret: value, authorize: buildAuthorizer(kind, value, context) }
      }
      case 'cloud': {
        const authorize = cloud && kind.createCloudAuthorizer?.(cloud, context)
        if (!authorize) return []
        return { name: `${cloudNames[credential.cloud]} credentials`, secret: undefined, authorize }
      }
      case 'none':
        return { name: 'none', secret: undefined, authorize: () => noHeaders }
      case 'missing':
        return []
      default:
        return credential satisfies never
    }
  })
}

const noHeaders = Object.freeze({})

/** Creates the function that adds a secret to requests. */
function buildAuthorizer(
  kind: ProviderKind,
  secret: string,
  context: Omit<CredentialContext, 'secret'>,
): Authorizer {
  const { readFile } = context
  const authorize: Authorizer = kind.createAuthorizer({
    ...context,
    secret,
    readFile:
      readFile &&
      ((path) => {
        fromFiles.add(authorize)
        return readFile(path)
      }),
  })
  return authorize
}

const fromFiles = new WeakSet<Authorizer>()

/** True when it has read its credential from a file, whose content may change. */
export function isFromFile({ authorize }: UsableCredential): boolean {
  return fromFiles.has(authorize)
}
