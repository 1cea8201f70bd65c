import type { AccessToken, CloudSource } from '../../core/cloud-credential.ts'
import type { RequestHeaders } from '../../core/endpoints.ts'
import type { Authorizer } from '../../core/provider-kind.ts'

/** The access token that a cloud provides at that moment. */
export interface CloudToken {
  /** Rejects with an `UpstreamFault` when there is none. */
  readonly current: () => Promise<AccessToken>
  /** Fetches a new token in place of the one in these headers. */
  readonly renew: (refused: RequestHeaders) => boolean
}

export function cloudToken(source: CloudSource): CloudToken {
  let last: AccessToken | undefined
  return {
    async current() {
      const credential = await source.current()
      if (credential.kind !== 'token') throw new TypeError('the credential is not a token')
      last = credential
      return credential
    },
    renew({ authorization }) {
      if (last && authorization === `Bearer ${last.value}`) source.replace(last)
      return true
    },
  }
}

/** Sends the access token that a cloud provides as `Authorization: Bearer`. */
export function authorizeWithCloudToken(source: CloudSource): Authorizer {
  const { current, renew } = cloudToken(source)
  const authorize = async () => ({ authorization: `Bearer ${(await current()).value}` })
  return Object.assign(authorize, { renew })
}
