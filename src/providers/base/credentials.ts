import type { Authorizer, CredentialContext } from '../../core/provider-kind.ts'

/** Sends the secret as `Authorization: Bearer`, as most vendors require. */
export function authorizeWithBearer({ secret }: CredentialContext): Authorizer {
  const headers = Object.freeze({ authorization: `Bearer ${secret}` })
  return () => headers
}

/** Sends the secret in a header that is specific to the vendor. */
export function authorizeWithHeader(name: string): (context: CredentialContext) => Authorizer {
  return ({ secret }) => {
    const headers = Object.freeze({ [name]: secret })
    return () => headers
  }
}
