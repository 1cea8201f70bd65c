import type { AccessToken, CloudSource } from '../../../core/cloud-credential.ts'
import type { DialectRequest, RequestHeaders } from '../../../core/endpoints.ts'
import type { Authorizer } from '../../../core/provider-kind.ts'
import { fillInProject } from '../url.ts'

/** Sends the access token that Google Cloud provides at that moment. */
export function googleCloudAuthorizer(source: CloudSource): Authorizer {
  let last: AccessToken | undefined
  const current = async (): Promise<AccessToken> => {
    const credential = await source.current()
    if (credential.kind !== 'token') throw new TypeError('a credential of Google is a token')
    last = credential
    return credential
  }
  return Object.assign(
    async () => {
      const { value, quotaProject } = await current()
      return {
        authorization: `Bearer ${value}`,
        ...(quotaProject !== undefined && { 'x-goog-user-project': quotaProject }),
      }
    },
    {
      renew({ authorization }: RequestHeaders) {
        if (last && authorization === `Bearer ${last.value}`) source.replace(last)
        return true
      },
      async complete(request: DialectRequest) {
        const { project } = await current()
        return { ...request, url: fillInProject(request.url, project) }
      },
    },
  )
}
