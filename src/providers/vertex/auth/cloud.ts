import type { CloudSource } from '../../../core/cloud-credential.ts'
import type { DialectRequest } from '../../../core/endpoints.ts'
import type { Authorizer } from '../../../core/provider-kind.ts'
import { cloudToken } from '../../base/cloud-token.ts'
import { fillInProject } from '../url.ts'

/** Sends the access token that Google Cloud provides, and completes addresses with its project. */
export function googleCloudAuthorizer(source: CloudSource): Authorizer {
  const { current, renew } = cloudToken(source)
  const authorize = async () => {
    const { value, quotaProject } = await current()
    return {
      authorization: `Bearer ${value}`,
      ...(quotaProject !== undefined && { 'x-goog-user-project': quotaProject }),
    }
  }
  const complete = async (request: DialectRequest) => {
    const { project } = await current()
    return { ...request, url: fillInProject(request.url, project) }
  }
  return Object.assign(authorize, { renew, complete })
}
