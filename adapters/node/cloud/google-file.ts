import * as z from 'zod'
import type { AccessToken, CloudCredentialRequest } from '../../../src/index.ts'
import { exchangeGoogleFile } from '../../../src/providers/index.ts'
import { readExcerpt } from '../../../src/wire/body.ts'
import { systemClock } from '../process/system.ts'
import { StatusError } from './token-failure.ts'

const scope = 'https://www.googleapis.com/auth/cloud-platform'

/** Fetches a token with the credentials in a file. Every type that Google's tools write is supported. */
export async function fetchFileToken(
  text: string,
  request: CloudCredentialRequest,
): Promise<AccessToken> {
  const { type } = typed.parse(JSON.parse(text))
  switch (type) {
    case 'impersonated_service_account':
      return impersonate(text, request)
    case 'external_account':
    case 'external_account_authorized_user': {
      const { fetchExternalToken } = await import('./google-external.ts')
      return fetchExternalToken(text, request)
    }
    default: {
      const { send } = request
      const { value, lifetime, ...projects } = await exchangeGoogleFile(text, {
        send,
        clock: systemClock,
      })
      const origin = type === 'service_account' ? 'Google service account' : 'Google user'
      return { kind: 'token', value, origin, expiresAt: Date.now() + lifetime, ...projects }
    }
  }
}

const typed = z.looseObject({ type: z.string() })

const connectTimeout = 5_000
const maxAnswerBytes = 64 * 1024
/** An account may allow more, but not by default. */
const lifetime = '3600s'

/**
 * Exchanges the token of other credentials for one of a service account.
 * https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateAccessToken
 */
async function impersonate(text: string, request: CloudCredentialRequest): Promise<AccessToken> {
  const {
    source_credentials: source,
    service_account_impersonation_url: url,
    quota_project_id: quotaProject,
    delegates,
  } = impersonation.parse(JSON.parse(text))
  const { value } = await fetchFileToken(JSON.stringify(source), request)
  const answer = await request.send({
    method: 'POST',
    url,
    headers: { authorization: `Bearer ${value}`, 'content-type': 'application/json' },
    body: new TextEncoder().encode(JSON.stringify({ scope: [scope], lifetime, delegates })),
    connectTimeout,
    queueLimit: maxAnswerBytes,
    signal: request.signal,
  })
  const body = await readExcerpt(answer.body, { maxBytes: maxAnswerBytes })
  if (answer.status !== 200) throw new StatusError('status', answer.status)
  const issued = impersonated.parse(JSON.parse(body))
  return {
    kind: 'token',
    value: issued.accessToken,
    origin: 'Google impersonated service account',
    expiresAt: Date.parse(issued.expireTime),
    quotaProject,
  }
}

const impersonation = z.looseObject({
  source_credentials: typed,
  service_account_impersonation_url: z.url({ protocol: /^https?$/ }),
  delegates: z.array(z.string()).optional(),
  quota_project_id: z.string().optional(),
})

const impersonated = z.object({
  accessToken: z.string().regex(/^[\x21-\x7e]+$/),
  expireTime: z.iso.datetime(),
})
