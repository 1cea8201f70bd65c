import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { nodeCloudCredentials } from '../../../adapters/node/ports/cloud-credentials.ts'
import { nodeUpstream } from '../../../adapters/node/ports/upstream.ts'
import { readProxyRules } from '../../../adapters/node/upstream/proxy-rules.ts'
import type { CloudCredential, UpstreamPort } from '../../../src/index.ts'
import { LightAbortController } from '../../../src/wire/light-abort-controller.ts'
import { httpServer } from '../support/servers.ts'

const expiresOn = Math.floor(Date.now() / 1000) + 86_400

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'azure-'))
  for (const name of Object.keys(process.env)) {
    if (/^(?:AZURE|IDENTITY)_/.test(name)) vi.stubEnv(name, undefined)
  }
  // No test may reach a real metadata service.
  vi.stubEnv('AZURE_POD_IDENTITY_AUTHORITY_HOST', 'http://127.0.0.1:1')
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

describe('a managed identity', () => {
  test('of a virtual machine is fetched from its metadata service, past the client that may use a proxy', async () => {
    const send = () => Promise.reject(new Error('nothing may be sent'))
    vi.stubEnv('AZURE_CLIENT_ID', 'user-assigned')
    const { url, calls } = await startService({ access_token: 'vm', expires_on: `${expiresOn}` })
    vi.stubEnv('AZURE_POD_IDENTITY_AUTHORITY_HOST', url)
    expect(await fetchToken({ send })).toEqual({
      kind: 'token',
      value: 'vm',
      origin: 'Azure managed identity',
      expiresAt: expiresOn * 1000,
    })
    expect(calls[0]?.url).toBe(
      '/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2Fcognitiveservices.azure.com&client_id=user-assigned',
    )
    expect(calls[0]?.headers['metadata']).toBe('true')
  })

  test('of App Service is fetched from the endpoint in its variables', async () => {
    const { url, calls } = await startService({ access_token: 'app', expires_on: `${expiresOn}` })
    vi.stubEnv('IDENTITY_ENDPOINT', `${url}/msi/token`)
    vi.stubEnv('IDENTITY_HEADER', 'header-canary')
    expect(await fetchToken()).toMatchObject({ value: 'app' })
    expect(calls[0]?.url).toContain('/msi/token?api-version=2019-08-01&resource=')
    expect(calls[0]?.headers['x-identity-header']).toBe('header-canary')
  })

  test('that is missing is a failure with its status', async () => {
    const { url } = await startService({ error: 'canary' }, 400)
    vi.stubEnv('AZURE_POD_IDENTITY_AUTHORITY_HOST', url)
    expect(await failure()).toBe('Azure managed identity: it answered with status 400')
  })

  test('on another machine is a failure', async () => {
    expect(await failure()).toBe('Azure managed identity: it is not available (ECONNREFUSED)')
  })
})

describe('a workload identity', () => {
  test('exchanges the token of a service account, through the proxy of the provider', async () => {
    const {
      url: proxy,
      calls,
      bodies,
    } = await startService({ access_token: 'aks', expires_in: 3600 })
    useWorkloadIdentity('http://login.test/')
    const send = nodeUpstream(readProxyRules({ HTTP_PROXY: proxy })).send
    expect(await fetchToken({ send })).toMatchObject({
      value: 'aks',
      origin: 'Azure workload identity',
      expiresAt: expect.closeTo(Date.now() + 3_600_000, -5),
    })
    expect(calls[0]?.url).toBe('http://login.test/my-tenant/oauth2/v2.0/token')
    expect(Object.fromEntries(new URLSearchParams(bodies[0]))).toEqual({
      grant_type: 'client_credentials',
      client_id: 'my-client',
      scope: 'https://cognitiveservices.azure.com/.default',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: 'assertion-canary',
    })
  })

  test('that is refused is a failure with its status, without the words of the service', async () => {
    const { url } = await startService({ error: 'canary', error_description: 'canary' }, 401)
    useWorkloadIdentity(url)
    expect(await failure()).toBe('Azure workload identity: it answered with status 401')
  })

  test('whose token file is missing is a failure', async () => {
    useWorkloadIdentity('http://127.0.0.1:1')
    vi.stubEnv('AZURE_FEDERATED_TOKEN_FILE', join(folder, 'absent'))
    expect(await failure()).toBe('Azure workload identity: it is not available (ENOENT)')
  })
})

test('a service principal sends its secret', async () => {
  const { url, bodies } = await startService({ access_token: 'principal', expires_in: 3600 })
  useWorkloadIdentity(url)
  vi.stubEnv('AZURE_CLIENT_SECRET', 'secret-canary')
  expect(await fetchToken()).toMatchObject({ origin: 'Azure service principal' })
  expect(new URLSearchParams(bodies[0]).get('client_secret')).toBe('secret-canary')
})

test('an answer without a valid token is a failure', async () => {
  const { url } = await startService({ access_token: 'can\nary', expires_in: 3600 })
  vi.stubEnv('AZURE_POD_IDENTITY_AUTHORITY_HOST', url)
  expect(await failure()).toBe('Azure managed identity: its content or its answer is not valid')
})

interface FetchOptions {
  readonly send?: UpstreamPort
}

function fetchToken({ send = nodeUpstream().send }: FetchOptions = {}): Promise<CloudCredential> {
  const signal = new LightAbortController()
  return nodeCloudCredentials({ cloud: 'azure', profile: undefined, send, signal })
}

/** Returns the reason of a failure. */
async function failure(): Promise<string> {
  const error = await fetchToken().catch((reason: unknown) => reason)
  if (!(error instanceof Error)) throw new Error('the fetch has not failed')
  expect(error.name).toBe('CloudCredentialError')
  expect(error.message).not.toContain('canary')
  return error.message
}

/** As the webhook of AKS injects it into a pod with a service account. */
function useWorkloadIdentity(authority: string): void {
  const file = join(folder, 'token')
  writeFileSync(file, 'assertion-canary\n')
  vi.stubEnv('AZURE_FEDERATED_TOKEN_FILE', file)
  vi.stubEnv('AZURE_CLIENT_ID', 'my-client')
  vi.stubEnv('AZURE_TENANT_ID', 'my-tenant')
  vi.stubEnv('AZURE_AUTHORITY_HOST', authority)
}

async function startService(answer: object, status = 200) {
  const calls: IncomingMessage[] = []
  const bodies: string[] = []
  const { url } = await httpServer(async (request, response) => {
    calls.push(request)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    bodies.push(Buffer.concat(chunks).toString())
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer))
  })
  return { url, calls, bodies }
}
