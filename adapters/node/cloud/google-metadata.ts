import * as z from 'zod'
import type { AccessToken, CancelSignal } from '../../../src/index.ts'
import { getDirectly } from './direct-call.ts'
import { StatusError } from './token-failure.ts'

const scope = 'https://www.googleapis.com/auth/cloud-platform'

/**
 * Fetches a token of the service account of this machine, or of this pod of GKE. The project is that of the
 * machine.
 * https://cloud.google.com/compute/docs/access/authenticate-workloads#applications
 */
export async function fetchMetadataToken(signal: CancelSignal): Promise<AccessToken> {
  const account = 'instance/service-accounts/default/token'
  const issued = tokenAnswer.parse(
    JSON.parse(await get(`${account}?scopes=${encodeURIComponent(scope)}`, signal)),
  )
  const expiresAt = Date.now() + issued.expires_in * 1000
  const project = await get('project/project-id', signal).catch(() => undefined)
  return {
    kind: 'token',
    value: issued.access_token,
    origin: 'Google metadata server',
    expiresAt,
    project: project?.trim() || undefined,
  }
}

const tokenAnswer = z.object({
  // The token becomes the value of a header.
  access_token: z.string().regex(/^[\x21-\x7e]+$/),
  expires_in: z.number().positive(),
})

async function get(path: string, signal: CancelSignal): Promise<string> {
  const host = process.env['GCE_METADATA_HOST'] || 'metadata.google.internal'
  const url = `http://${host}/computeMetadata/v1/${path}`
  const answer = await getDirectly({ url, headers: { 'metadata-flavor': 'Google' }, signal })
  // A captive portal or another service may answer under this name.
  if (answer.headers['metadata-flavor'] !== 'Google') throw new StatusError('status', 200)
  return answer.body
}
