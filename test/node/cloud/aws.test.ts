import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { nodeCloudCredentials } from '../../../adapters/node/ports/cloud-credentials.ts'
import { nodeUpstream } from '../../../adapters/node/ports/upstream.ts'
import { readProxyRules } from '../../../adapters/node/upstream/proxy-rules.ts'
import type { CloudCredential } from '../../../src/index.ts'
import { LightAbortController } from '../../../src/wire/light-abort-controller.ts'
import { httpServer } from '../support/servers.ts'

const canary = 'canary-secret-0123456789abcdef'
const expiration = new Date(Math.floor(Date.now() / 1000) * 1000 + 3_600_000)

const issued = {
  kind: 'access-key',
  id: 'ASIAISSUED0000000000',
  secret: canary,
  sessionToken: 'issued-session',
  expiresAt: expiration.getTime(),
}

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'aws-'))
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('AWS_')) vi.stubEnv(name, undefined)
  }
  vi.stubEnv('AWS_CONFIG_FILE', join(folder, 'config'))
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(folder, 'credentials'))
  // No test may reach a real metadata service.
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

describe('the instance metadata service', () => {
  test('an instance role is fetched with a session token of the service (IMDSv2)', async () => {
    const calls = await startInstanceMetadata()
    expect(await fetchCredential()).toEqual({ ...issued, origin: 'AWS instance role' })
    expect(calls.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'PUT /latest/api/token',
      'GET /latest/meta-data/iam/security-credentials/',
      'GET /latest/meta-data/iam/security-credentials/my-role',
    ])
    expect(calls[1]?.headers['x-aws-ec2-metadata-token']).toBe('imds-token')
  })

  test('its calls go past the client that may use a proxy', async () => {
    await startInstanceMetadata()
    const send = () => Promise.reject(new Error('nothing may be sent'))
    expect(await fetchCredential({ send })).toMatchObject({ origin: 'AWS instance role' })
  })

  test('an instance without a role has no credential', async () => {
    await startInstanceMetadata({ status: 404 })
    expect(await failure()).toBe('AWS instance role: it answered with status 404')
  })
})

describe('a container', () => {
  test('its role is fetched with the token from a file, which is read each time', async () => {
    const tokens: unknown[] = []
    const { url } = await httpServer((request, response) => {
      tokens.push(request.headers['authorization'])
      response.end(JSON.stringify(metadataAnswer()))
    })
    vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${url}/creds`)
    const file = join(folder, 'token')
    vi.stubEnv('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE', file)
    for (const token of ['first', 'second']) {
      writeFileSync(file, token)
      expect(await fetchCredential()).toEqual({ ...issued, origin: 'AWS container role' })
    }
    expect(tokens).toEqual(['first', 'second'])
  })

  test('its refusal is the failure, without a look at the instance', async () => {
    const { url } = await httpServer((_, response) => {
      response.writeHead(403)
      response.end(JSON.stringify({ Code: canary, Message: canary }))
    })
    vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${url}/creds`)
    expect(await failure()).toBe('AWS container role: it answered with status 403')
  })
})

describe('a web identity', () => {
  test('the token of a service account is exchanged at STS, through the proxy of the provider', async () => {
    const { url: sts, forms } = await startSts()
    const seen: string[] = []
    const proxy = await httpServer(async (request, response) => {
      seen.push(request.url ?? '')
      const answer = await fetch(sts, { method: 'POST', body: await readBody(request) })
      response.end(await answer.text())
    })
    useWebIdentity('http://sts.test')
    const send = nodeUpstream(readProxyRules({ HTTP_PROXY: proxy.url })).send
    expect(await fetchCredential({ send })).toEqual({ ...issued, origin: 'AWS web identity' })
    expect(seen).toEqual(['http://sts.test/'])
    const form = forms[0] ?? new URLSearchParams()
    expect(form.get('Action')).toBe('AssumeRoleWithWebIdentity')
    expect(form.get('RoleArn')).toBe('arn:aws:iam::123456789012:role/gateway')
    expect(form.get('WebIdentityToken')).toBe('service-account-jwt')
  })

  test('a refusal of STS names its error, without its words', async () => {
    const { url } = await httpServer((_, response) => {
      response.writeHead(403, { 'content-type': 'text/xml' })
      response.end(
        `<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>${canary}</Message></Error></ErrorResponse>`,
      )
    })
    useWebIdentity(url)
    expect(await failure()).toBe('AWS web identity: AWS answered AccessDenied, status 403')
  })

  test('an STS that cannot be reached is a failure with its code', async () => {
    useWebIdentity('http://127.0.0.1:1')
    expect(await failure()).toBe('AWS web identity: AWS could not be reached (ECONNREFUSED)')
  })

  test('a token file that is missing is a failure', async () => {
    vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', join(folder, 'absent'))
    vi.stubEnv('AWS_ROLE_ARN', 'arn:aws:iam::123456789012:role/gateway')
    expect(await failure()).toBe('AWS web identity: it is not available (ENOENT)')
  })
})

describe('the shared files', () => {
  test('a profile of the configuration wins over variables and the default profile', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAVARIABLE00000000')
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', canary)
    writeCredentials('default', 'AKIADEFAULT000000000')
    writeCredentials('prod', 'AKIAPROD000000000000')
    expect(await fetchCredential({ profile: 'prod' })).toMatchObject({
      id: 'AKIAPROD000000000000',
      origin: 'AWS profile prod',
      expiresAt: undefined,
    })
    expect(await fetchCredential()).toMatchObject({ origin: 'AWS variables' })
    vi.stubEnv('AWS_PROFILE', 'prod')
    expect(await fetchCredential()).toMatchObject({ origin: 'AWS profile prod' })
  })

  test('the default profile is used, and read again each time', async () => {
    writeCredentials('default', 'AKIABEFORE0000000000')
    expect(await fetchCredential()).toMatchObject({ id: 'AKIABEFORE0000000000' })
    writeCredentials('default', 'AKIAAFTER00000000000')
    expect(await fetchCredential()).toMatchObject({
      id: 'AKIAAFTER00000000000',
      origin: 'AWS profile default',
    })
  })

  test('a default profile with only a region is passed over', async () => {
    writeFileSync(join(folder, 'config'), '[default]\nregion = eu-central-1\n')
    await startInstanceMetadata()
    expect(await fetchCredential()).toMatchObject({ origin: 'AWS instance role' })
  })

  test('a profile may name a credential_process', async () => {
    const answer = {
      Version: 1,
      AccessKeyId: issued.id,
      SecretAccessKey: canary,
      SessionToken: 'issued-session',
      Expiration: expiration.toISOString(),
    }
    writeFileSync(join(folder, 'answer.json'), JSON.stringify(answer))
    writeProcess(`cat ${join(folder, 'answer.json')}`)
    expect(await fetchCredential({ profile: 'tool' })).toEqual({
      ...issued,
      origin: 'AWS profile tool',
    })
  })

  test('the command and the output of a failing credential_process are not quoted', async () => {
    writeProcess(`sh -c "echo ${canary} >&2; exit 3"`)
    expect(await failure({ profile: 'tool' })).toBe(
      'AWS profile tool: its credential_process has failed',
    )
    writeProcess(`echo ${canary}`)
    expect(await failure({ profile: 'tool' })).toBe(
      'AWS profile tool: its credential_process returned invalid JSON',
    )
  })

  test('a profile may assume a role with the credential of the instance', async () => {
    await startInstanceMetadata()
    const { url, forms } = await startSts('AssumeRole')
    vi.stubEnv('AWS_ENDPOINT_URL_STS', url)
    vi.stubEnv('AWS_REGION', 'eu-central-1')
    writeFileSync(
      join(folder, 'config'),
      '[profile other]\nrole_arn = arn:aws:iam::210987654321:role/models\ncredential_source = Ec2InstanceMetadata\n',
    )
    expect(await fetchCredential({ profile: 'other' })).toEqual({
      ...issued,
      origin: 'AWS profile other',
    })
    expect(forms[0]?.get('RoleArn')).toBe('arn:aws:iam::210987654321:role/models')
  })

  test('a profile that is missing is a failure, without a look anywhere else', async () => {
    writeCredentials('default', 'AKIADEFAULT000000000')
    expect(await failure({ profile: 'absent' })).toBe(
      'AWS profile absent: the shared files have no such profile, or it has no credential',
    )
  })
})

test('without any source the failure says where the gateway has looked', async () => {
  expect(await failure()).toBe(
    'there are no AWS variables, no profile, and no role of a container, and the instance metadata is ' +
      'disabled (AWS_EC2_METADATA_DISABLED)',
  )
})

test('nothing is written to the console', async () => {
  const spies = (['log', 'warn', 'error'] as const).map((name) => vi.spyOn(console, name))
  writeProcess('exit 1')
  await failure({ profile: 'tool' })
  useWebIdentity('http://127.0.0.1:1')
  vi.stubEnv('AWS_REGION', undefined)
  await failure()
  for (const spy of spies) expect(spy).not.toHaveBeenCalled()
})

interface FetchOptions {
  readonly profile?: string
  readonly send?: ReturnType<typeof nodeUpstream>['send']
}

async function fetchCredential({
  profile,
  send = nodeUpstream().send,
}: FetchOptions = {}): Promise<CloudCredential> {
  return nodeCloudCredentials({ cloud: 'aws', profile, send, signal: new LightAbortController() })
}

/** Returns the reason of a failure. */
async function failure(options?: FetchOptions): Promise<string> {
  const error = await fetchCredential(options).catch((reason: unknown) => reason)
  if (!(error instanceof Error)) throw new Error('the fetch has not failed')
  expect(error.name).toBe('CloudCredentialError')
  expect(error.message).not.toContain('canary')
  return error.message
}

function metadataAnswer() {
  return {
    Code: 'Success',
    AccessKeyId: issued.id,
    SecretAccessKey: canary,
    Token: 'issued-session',
    Expiration: expiration.toISOString().replace('.000', ''),
  }
}

async function startInstanceMetadata({ status = 200 } = {}): Promise<readonly IncomingMessage[]> {
  const calls: IncomingMessage[] = []
  const { url } = await httpServer((request, response) => {
    calls.push(request)
    if (request.method === 'PUT') return response.end('imds-token')
    response.writeHead(status)
    if (request.url?.endsWith('/my-role')) return response.end(JSON.stringify(metadataAnswer()))
    return response.end('my-role')
  })
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', undefined)
  vi.stubEnv('AWS_EC2_METADATA_SERVICE_ENDPOINT', url)
  return calls
}

async function startSts(action = 'AssumeRoleWithWebIdentity') {
  const forms: URLSearchParams[] = []
  const { url } = await httpServer(async (request, response) => {
    forms.push(new URLSearchParams(await readBody(request)))
    response.writeHead(200, { 'content-type': 'text/xml' })
    response.end(`<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <${action}Result><Credentials>
    <AccessKeyId>${issued.id}</AccessKeyId><SecretAccessKey>${canary}</SecretAccessKey>
    <SessionToken>issued-session</SessionToken><Expiration>${expiration.toISOString()}</Expiration>
  </Credentials></${action}Result>
</${action}Response>`)
  })
  return { url, forms }
}

/** As EKS injects it into a pod with a service account. */
function useWebIdentity(sts: string): void {
  const file = join(folder, 'token')
  writeFileSync(file, 'service-account-jwt')
  vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', file)
  vi.stubEnv('AWS_ROLE_ARN', 'arn:aws:iam::123456789012:role/gateway')
  vi.stubEnv('AWS_REGION', 'eu-central-1')
  vi.stubEnv('AWS_ENDPOINT_URL_STS', sts)
}

function writeCredentials(profile: string, id: string): void {
  const file = join(folder, 'credentials')
  const before = ignoreMissing(() => readFileSync(file, 'utf8'))
  const entry = `[${profile}]\naws_access_key_id = ${id}\naws_secret_access_key = ${canary}\n`
  const others = before.replace(new RegExp(`\\[${profile}\\][^[]*`), '')
  writeFileSync(file, others + entry)
}

function ignoreMissing(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}

function writeProcess(command: string): void {
  writeFileSync(join(folder, 'config'), `[profile tool]\ncredential_process = ${command}\n`)
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
