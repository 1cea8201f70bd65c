import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { nodeCloudCredentials } from '../../../adapters/node/ports/cloud-credentials.ts'
import { nodeUpstream } from '../../../adapters/node/ports/upstream.ts'
import { readProxyRules } from '../../../adapters/node/upstream/proxy-rules.ts'
import type { CloudCredential, UpstreamPort } from '../../../src/index.ts'
import { LightAbortController } from '../../../src/wire/light-abort-controller.ts'
import { authorizedUser, serviceAccount } from '../../providers/vertex/support.ts'
import { httpServer } from '../support/servers.ts'

const scope = 'https://www.googleapis.com/auth/cloud-platform'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'google-'))
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', undefined)
  vi.stubEnv('CLOUDSDK_CONFIG', join(folder, 'gcloud'))
  // No test may reach a real metadata server.
  vi.stubEnv('GCE_METADATA_HOST', '127.0.0.1:1')
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

describe('the metadata server', () => {
  test('provides a token of the service account, and the project', async () => {
    const calls = await startMetadata()
    expect(await fetchToken()).toEqual({
      kind: 'token',
      value: 'ya29.metadata-canary',
      origin: 'Google metadata server',
      expiresAt: expect.closeTo(Date.now() + 3_599_000, -4),
      project: 'my-project',
    })
    expect(calls.map(({ url }) => url)).toEqual([
      `/computeMetadata/v1/instance/service-accounts/default/token?scopes=${encodeURIComponent(scope)}`,
      '/computeMetadata/v1/project/project-id',
    ])
    expect(calls[0]?.headers['metadata-flavor']).toBe('Google')
  })

  test('its calls go past the client that may use a proxy', async () => {
    await startMetadata()
    const send = () => Promise.reject(new Error('nothing may be sent'))
    expect(await fetchToken({ send })).toMatchObject({ origin: 'Google metadata server' })
  })

  test('an answer of another service is a failure', async () => {
    await startMetadata({ headers: {} })
    expect(await failure()).toBe('Google metadata server: it answered with status 200')
  })

  test('a machine without a service account has no token', async () => {
    await startMetadata({ status: 404 })
    expect(await failure()).toBe('Google metadata server: it answered with status 404')
  })

  test('one that cannot be reached is a failure with its code', async () => {
    expect(await failure()).toBe('Google metadata server: it is not available (ECONNREFUSED)')
  })

  test('a fetch that is aborted ends its call', async () => {
    const { port } = await httpServer(() => {})
    vi.stubEnv('GCE_METADATA_HOST', `127.0.0.1:${port}`)
    const signal = new LightAbortController()
    const fetching = failure({ signal })
    setImmediate(() => signal.abort())
    expect(await fetching).toContain('Google metadata server')
  })
})

describe('a credentials file', () => {
  test('of a service account is exchanged, through the proxy of the provider', async () => {
    const seen: string[] = []
    const proxy = await httpServer((request, response) => {
      seen.push(request.url ?? '')
      response.end(JSON.stringify({ access_token: 'ya29.account', expires_in: 3600 }))
    })
    useFile({ ...serviceAccount, token_uri: 'http://oauth.test/token' })
    const send = nodeUpstream(readProxyRules({ HTTP_PROXY: proxy.url })).send
    expect(await fetchToken({ send })).toMatchObject({
      value: 'ya29.account',
      origin: 'Google service account',
      project: 'sa-proj',
    })
    expect(seen).toEqual(['http://oauth.test/token'])
  })

  test('of the gcloud command is found, with its quota project', async () => {
    const { url, bodies } = await startToken({ access_token: 'ya29.user', expires_in: 3600 })
    mkdirSync(join(folder, 'gcloud'))
    writeFileSync(
      join(folder, 'gcloud', 'application_default_credentials.json'),
      JSON.stringify({ ...authorizedUser, token_uri: url, quota_project_id: 'quota' }),
    )
    expect(await fetchToken()).toMatchObject({
      value: 'ya29.user',
      origin: 'Google user',
      quotaProject: 'quota',
    })
    expect(bodies[0]).toContain('grant_type=refresh_token')
  })

  test('of an impersonated service account takes two steps', async () => {
    const { url: oauth } = await startToken({ access_token: 'ya29.source', expires_in: 3600 })
    const expireTime = '2030-01-01T00:00:00Z'
    const { url: iam, calls, bodies } = await startToken({ accessToken: 'ya29.target', expireTime })
    useFile({
      type: 'impersonated_service_account',
      service_account_impersonation_url: `${iam}/v1/projects/-/serviceAccounts/a@b.iam.gserviceaccount.com:generateAccessToken`,
      delegates: [],
      source_credentials: { ...authorizedUser, token_uri: oauth },
    })
    expect(await fetchToken()).toMatchObject({
      value: 'ya29.target',
      origin: 'Google impersonated service account',
      expiresAt: Date.parse(expireTime),
    })
    expect(calls[0]?.headers['authorization']).toBe('Bearer ya29.source')
    expect(JSON.parse(bodies[0] ?? '')).toEqual({
      scope: [scope],
      lifetime: '3600s',
      delegates: [],
    })
  })

  test('of an external account exchanges its subject token, through the proxy of the provider', async () => {
    const seen: string[] = []
    const proxy = await httpServer(async (request, response) => {
      seen.push(request.url ?? '', await readBody(request))
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(stsAnswer))
    })
    useFile(externalAccount('http://sts.test/v1/token'))
    const send = nodeUpstream(readProxyRules({ HTTP_PROXY: proxy.url })).send
    expect(await fetchToken({ send })).toMatchObject({
      value: 'ya29.federated',
      origin: 'Google workload identity',
      expiresAt: expect.closeTo(Date.now() + 3_600_000, -5),
    })
    expect(seen[0]).toBe('http://sts.test/v1/token')
    expect(new URLSearchParams(seen[1]).get('subject_token')).toBe('subject-canary')
  })

  test('of an external account may impersonate a service account', async () => {
    const { url: sts } = await startToken(stsAnswer)
    const expireTime = '2030-01-01T00:00:00Z'
    const { url: iam, calls } = await startToken({ accessToken: 'ya29.target', expireTime })
    useFile({
      ...externalAccount(sts),
      service_account_impersonation_url: `${iam}/v1/projects/-/serviceAccounts/a@b.iam.gserviceaccount.com:generateAccessToken`,
    })
    expect(await fetchToken()).toMatchObject({
      value: 'ya29.target',
      expiresAt: Date.parse(expireTime),
    })
    expect(calls[0]?.headers['authorization']).toBe('Bearer ya29.federated')
  })

  test('a refusal names its code, without the words of the service', async () => {
    const refusal = { error: 'invalid_grant', error_description: 'canary' }
    const { url } = await startToken(refusal, 400)
    useFile({ ...authorizedUser, token_uri: url })
    expect(await failure()).toBe(
      'Google credentials file: Google answered with status 401 (invalid_grant)',
    )
    useFile(externalAccount(url))
    expect(await failure()).toBe('Google credentials file: Google answered invalid_grant')
    useFile(externalAccount('http://127.0.0.1:1/token'))
    expect(await failure()).toBe(
      'Google credentials file: Google could not be reached (ECONNREFUSED)',
    )
  })

  test.each([
    ['canary', 'its content or its answer is not valid'],
    ['{"type":"external_account","audience":"canary"}', 'its content or its answer is not valid'],
    [
      '{"type":"canary"}',
      'the Google credential cannot be used: the credentials JSON is not of type service_account or authorized_user',
    ],
  ])('%s is a failure that does not quote it', async (text, reason) => {
    useFile(text)
    expect(await failure()).toBe(`Google credentials file: ${reason}`)
  })

  test('one that is missing is a failure, without a look at the metadata server', async () => {
    const calls = await startMetadata()
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', join(folder, 'absent'))
    expect(await failure()).toBe('the file in GOOGLE_APPLICATION_CREDENTIALS cannot be read')
    expect(calls).toEqual([])
  })
})

interface FetchOptions {
  readonly send?: UpstreamPort
  readonly signal?: LightAbortController
}

function fetchToken({
  send = nodeUpstream().send,
  signal = new LightAbortController(),
}: FetchOptions = {}): Promise<CloudCredential> {
  return nodeCloudCredentials({ cloud: 'google', profile: undefined, send, signal })
}

/** Returns the reason of a failure. */
async function failure(options?: FetchOptions): Promise<string> {
  const error = await fetchToken(options).catch((reason: unknown) => reason)
  if (!(error instanceof Error)) throw new Error('the fetch has not failed')
  expect(error.name).toBe('CloudCredentialError')
  expect(error.message).not.toContain('canary')
  return error.message
}

/** Sets the file of `GOOGLE_APPLICATION_CREDENTIALS`. */
function useFile(content: object | string): void {
  const file = join(folder, 'credentials.json')
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', file)
}

function externalAccount(sts: string): object {
  const file = join(folder, 'subject')
  writeFileSync(file, 'subject-canary')
  return {
    type: 'external_account',
    audience:
      '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/p',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: sts,
    credential_source: { file },
  }
}

const stsAnswer = {
  access_token: 'ya29.federated',
  issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  token_type: 'Bearer',
  expires_in: 3600,
}

async function startMetadata({
  status = 200,
  headers = { 'metadata-flavor': 'Google' },
}: {
  readonly status?: number
  readonly headers?: Record<string, string>
} = {}): Promise<readonly IncomingMessage[]> {
  const calls: IncomingMessage[] = []
  const { port } = await httpServer((request, response) => {
    calls.push(request)
    response.writeHead(status, headers)
    const token = { access_token: 'ya29.metadata-canary', expires_in: 3599, token_type: 'Bearer' }
    response.end(request.url?.includes('/token') ? JSON.stringify(token) : 'my-project')
  })
  vi.stubEnv('GCE_METADATA_HOST', `127.0.0.1:${port}`)
  return calls
}

async function startToken(answer: object, status = 200) {
  const calls: IncomingMessage[] = []
  const bodies: string[] = []
  const { url } = await httpServer(async (request, response) => {
    calls.push(request)
    bodies.push(await readBody(request))
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer))
  })
  return { url, calls, bodies }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
