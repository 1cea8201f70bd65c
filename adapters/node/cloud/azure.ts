import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import {
  type AccessToken,
  CloudCredentialError,
  type CloudCredentialRequest,
} from '../../../src/index.ts'
import { readExcerpt } from '../../../src/wire/body.ts'
import { getDirectly } from './direct-call.ts'
import { describeTokenFailure, StatusError } from './token-failure.ts'

/** One of the places in which the libraries of Azure look for credentials. */
interface Place {
  /** The name of the credential that is found there. */
  readonly origin: string
  /** Resolves to the answer with the token, in JSON. */
  readonly load: () => Promise<string>
}

/**
 * Fetches an access token of Microsoft Entra ID for Azure OpenAI, from the first place that is configured, in
 * the order of Azure's libraries. A configured place that fails is the result.
 * https://learn.microsoft.com/azure/developer/javascript/sdk/authentication/credential-chains
 */
export async function fetchAzureCredential(request: CloudCredentialRequest): Promise<AccessToken> {
  const { origin, load } = choosePlace(request)
  try {
    const answer = tokenAnswer.parse(JSON.parse(await load()))
    const expiresAt =
      answer.expires_on === undefined
        ? Date.now() + answer.expires_in * 1000
        : answer.expires_on * 1000
    return { kind: 'token', value: answer.access_token, origin, expiresAt }
  } catch (error) {
    throw new CloudCredentialError(`${origin}: ${describeTokenFailure(error, 'Azure')}`)
  }
}

/** The variables are those of Azure's libraries. */
function choosePlace(request: CloudCredentialRequest): Place {
  const { env } = process
  const client = env['AZURE_CLIENT_ID'] ?? ''
  const tenant = env['AZURE_TENANT_ID']
  const secret = env['AZURE_CLIENT_SECRET']
  const file = env['AZURE_FEDERATED_TOKEN_FILE']
  if (client && tenant && secret) {
    const load = () => exchange({ client, tenant, proof: { client_secret: secret } }, request)
    return { origin: 'Azure service principal', load }
  }
  if (client && tenant && file) {
    const load = async () => {
      const assertion = (await readFile(file, 'utf8')).trim()
      const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
      const proof = { client_assertion_type: type, client_assertion: assertion }
      return exchange({ client, tenant, proof }, request)
    }
    return { origin: 'Azure workload identity', load }
  }
  return { origin: 'Azure managed identity', load: () => getManagedIdentity(client, request) }
}

const resource = 'https://cognitiveservices.azure.com'

/**
 * App Service, Functions and Container Apps name their own endpoint; virtual machines have the metadata service.
 * A user-assigned identity is selected by its client id.
 * https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token
 */
async function getManagedIdentity(
  client: string,
  { signal }: CloudCredentialRequest,
): Promise<string> {
  const { env } = process
  const own = env['IDENTITY_ENDPOINT']
  const secret = env['IDENTITY_HEADER']
  const authority = env['AZURE_POD_IDENTITY_AUTHORITY_HOST'] || 'http://169.254.169.254'
  const url = new URL(own && secret ? own : '/metadata/identity/oauth2/token', authority)
  url.searchParams.set('api-version', own && secret ? '2019-08-01' : '2018-02-01')
  url.searchParams.set('resource', resource)
  if (client) url.searchParams.set('client_id', client)
  const headers: Record<string, string> =
    own && secret ? { 'x-identity-header': secret } : { metadata: 'true' }
  const { body } = await getDirectly({ url: url.href, headers, signal })
  return body
}

interface Grant {
  readonly client: string
  readonly tenant: string
  /** What proves the identity of the client. */
  readonly proof: Readonly<Record<string, string>>
}

const connectTimeout = 5_000
const maxAnswerBytes = 64 * 1024

/** https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow */
async function exchange(
  { client, tenant, proof }: Grant,
  { send, signal }: CloudCredentialRequest,
): Promise<string> {
  const authority = process.env['AZURE_AUTHORITY_HOST'] || 'https://login.microsoftonline.com'
  const path = `/${encodeURIComponent(tenant)}/oauth2/v2.0/token`
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: client,
    scope: `${resource}/.default`,
    ...proof,
  })
  const answer = await send({
    method: 'POST',
    url: new URL(path, authority).href,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      'accept-encoding': 'identity',
    },
    body: new TextEncoder().encode(form.toString()),
    connectTimeout,
    queueLimit: maxAnswerBytes,
    signal,
  })
  const body = await readExcerpt(answer.body, { maxBytes: maxAnswerBytes })
  if (answer.status !== 200) throw new StatusError('status', answer.status)
  return body
}

/** Managed identities send their times in seconds as strings. */
const tokenAnswer = z.object({
  // The token becomes the value of a header.
  access_token: z.string().regex(/^[\x21-\x7e]+$/),
  expires_in: z.coerce.number().positive().default(3600),
  expires_on: z.coerce.number().positive().optional(),
})
