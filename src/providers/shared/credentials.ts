import type { Authorizer, CredentialContext } from '../../core/provider.ts'

/** `Authorization: Bearer`, as most vendors take their keys. */
export function authorizeWithBearer({ secret }: CredentialContext): Authorizer {
  const headers = Object.freeze({ authorization: `Bearer ${secret}` })
  return () => headers
}

/** The key in a header of the vendor's own. */
export function authorizeWithHeader(name: string): (context: CredentialContext) => Authorizer {
  return ({ secret }) => {
    const headers = Object.freeze({ [name]: secret })
    return () => headers
  }
}
