import {
  type BaseExternalAccountClient,
  ExternalAccountAuthorizedUserClient,
  ExternalAccountClient,
  gaxios,
} from 'google-auth-library'
import type { AccessToken, CloudCredentialRequest } from '../../../src/index.ts'
import { readExcerpt } from '../../../src/wire/body.ts'
import { StatusError } from './token-failure.ts'

const scopes = ['https://www.googleapis.com/auth/cloud-platform']

/**
 * Fetches a token by workload or workforce identity federation, with Google's own package: it reads the
 * subject token from a file, an address, a program or AWS.
 * https://cloud.google.com/iam/docs/workload-identity-federation
 */
export async function fetchExternalToken(
  text: string,
  request: CloudCredentialRequest,
): Promise<AccessToken> {
  const json = JSON.parse(text)
  const transporter = new gaxios.Gaxios({
    fetchImplementation: createFetch(request),
    retryConfig: { retry: 0 },
  })
  const options = { ...json, scopes, transporter }
  const client: BaseExternalAccountClient | ExternalAccountAuthorizedUserClient | null =
    json.type === 'external_account'
      ? ExternalAccountClient.fromJSON(options)
      : new ExternalAccountAuthorizedUserClient(options)
  if (!client) throw new TypeError('not an external account')
  // The subject token is exchanged by a part that has a transporter of its own. With a client certificate it
  // must keep that one.
  const exchange: unknown = Reflect.get(client, 'stsCredential')
  if (exchange instanceof Object && !json.credential_source?.certificate) {
    Object.assign(exchange, { transporter })
  }
  const { token } = await client.getAccessToken()
  const { expiry_date: expiresAt } = client.credentials
  if (!token || !/^[\x21-\x7e]+$/.test(token)) throw new TypeError('no token')
  return {
    kind: 'token',
    value: token,
    origin: 'Google workload identity',
    expiresAt: expiresAt ?? undefined,
    quotaProject: client.quotaProjectId,
  }
}

const connectTimeout = 5_000
const maxAnswerBytes = 64 * 1024

/** The metadata services of AWS and Azure, which subject tokens may come from. */
const isLinkLocal = /^(?:169\.254\.|\[fd00:ec2:)/

/** Sends the requests of the package as the gateway sends its own: through the proxy of the provider. */
function createFetch({ send, signal }: CloudCredentialRequest): typeof fetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input)
    if (isLinkLocal.test(url.hostname)) return fetch(input, init)
    const method = init.method?.toUpperCase() === 'POST' ? 'POST' : 'GET'
    const answer = await send({
      method,
      url: url.href,
      headers: Object.fromEntries(new Headers(init.headers)),
      body: method === 'POST' ? await toBytes(init.body) : undefined,
      connectTimeout,
      queueLimit: maxAnswerBytes,
      signal,
    })
    const body = await readExcerpt(answer.body, { maxBytes: maxAnswerBytes })
    if (answer.status < 200 || answer.status > 599) throw new StatusError('status', answer.status)
    const type = answer.header('content-type') ?? 'application/json'
    return new Response(body, { status: answer.status, headers: { 'content-type': type } })
  }
}

async function toBytes(body: BodyInit | null | undefined): Promise<Uint8Array> {
  return new Uint8Array(await new Response(body ?? null).arrayBuffer())
}
