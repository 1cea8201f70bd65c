import { describe, expect, test } from 'vitest'
import type { CloudCredential, CloudCredentialPort } from '../../src/index.ts'
import { CloudCredentialError, checkConfig } from '../../src/index.ts'
import { answered, asking } from '../providers/bedrock/support.ts'
import { completion } from '../support/answers.ts'
import { type LogLine, readError, testGateway } from '../support/gateway.ts'
import { keyedGateway } from '../support/keyed-gateway.ts'
import { MemoryFile } from '../support/reloading-gateway.ts'
import { json } from '../support/scripted-upstream.ts'

const secret = 'canary-secret-key-0123456789'
const sessionToken = 'canary-session-token-0123456789'

function aws(settings = ''): string {
  return `
[[providers]]
name = "aws"
kind = "bedrock"
base_url = "eu-central-1"
credentials = "aws"
${settings}
[[providers.models]]
id = "m"
upstream_id = "amazon.nova-pro-v1:0"
`
}

describe('a provider with credentials = "aws"', () => {
  test('signs its requests with the session token of the cloud', async () => {
    const { chat, upstream } = await cloudGateway()
    upstream.next(json(answered([{ text: 'Hello' }])))
    const answer = await chat(asking())
    expect(answer.status).toBe(200)
    const headers = upstream.requests[0]?.headers
    expect(headers?.['x-amz-security-token']).toBe(sessionToken)
    expect(headers?.['authorization']).toMatch(
      /^AWS4-HMAC-SHA256 Credential=ASIA1\/\d+\/eu-central-1\/bedrock\//,
    )
  })

  test('passes its profile on', async () => {
    const { requests } = await cloudGateway({ config: aws('aws_profile = "prod"') })
    expect(requests).toMatchObject([{ cloud: 'aws', profile: 'prod' }])
  })

  test('signs with the new credential after a renewal', async () => {
    const { chat, upstream, clock } = await cloudGateway()
    upstream.always(json(answered([{ text: 'Hello' }])))
    await clock.advance(57 * 60_000)
    await chat(asking())
    expect(upstream.requests[0]?.headers['authorization']).toContain('Credential=ASIA2/')
  })

  test('without a credential, fails with LM-3006 and the reason, which the log has too', async () => {
    const { chat, log, upstream } = await cloudGateway({ reason: 'AWS instance role: gone' })
    const answer = await chat(asking())
    expect(answer.status).toBe(502)
    expect(await readError(answer)).toMatchObject({
      code: 'LM-3006',
      message: 'provider aws has no AWS credential: AWS instance role: gone',
    })
    expect(upstream.requests).toEqual([])
    expect(lines(log, 'warn')).toEqual([
      'the credential cannot be fetched AWS instance role: gone',
      'no credential ',
      'request ',
    ])
  })

  test('without a credential, POST /admin/explain calls it missing', async () => {
    const cloudCredentials = () => Promise.reject(new CloudCredentialError('no role'))
    const { admin } = await keyedGateway(aws(), { cloudCredentials })
    const body = { path: '/v1/chat/completions', body: asking() }
    const { body: explained } = await admin('POST', '/admin/explain', body)
    expect(explained).toMatchObject({ links: [{ credential: 'missing' }] })
  })

  test('is not parked: it serves as soon as there is a credential', async () => {
    const { chat, issue, clock, upstream } = await cloudGateway({ reason: 'not yet' })
    expect((await chat(asking())).status).toBe(502)
    issue()
    await clock.advance(1000)
    upstream.next(json(answered([{ text: 'Hello' }])))
    expect((await chat(asking())).status).toBe(200)
  })

  test('its secrets are in no error, log line or overview', async () => {
    const { gateway, chat, upstream, log } = await cloudGateway()
    upstream.always(json({ message: `bad ${secret} and ${sessionToken}` }, { status: 403 }))
    const answer = await chat(asking())
    const seen = JSON.stringify([await answer.text(), log, gateway.overview])
    expect(seen).toContain('bad ***')
    expect(seen).not.toContain('canary')
  })

  test('the start waits for the credential, and the overview names its origin', async () => {
    const { gateway } = await cloudGateway()
    expect(gateway.overview).toMatchObject({
      providers: [{ credential: 'AWS instance role', missing: undefined }],
      warnings: [],
    })
  })

  test('the overview has the reason when there is none', async () => {
    const { gateway } = await cloudGateway({ reason: 'no role' })
    expect(gateway.overview.providers).toMatchObject([
      {
        credential: 'no AWS credential: no role',
        missing: 'provider aws: no AWS credential: no role',
      },
    ])
  })

  test('on a host without such credentials it is a missing credential', async () => {
    const { gateway } = await testGateway(aws())
    expect(gateway.overview.warnings).toEqual([
      'provider aws has no credential: this host cannot find AWS credentials',
    ])
  })

  test('warns when no region is configured', async () => {
    const { gateway } = await cloudGateway({
      config: aws().replace('base_url = "eu-central-1"', ''),
    })
    expect(gateway.overview.warnings).toEqual([
      'provider aws: no region in base_url, an ARN, the credential or AWS_REGION: requests go to us-east-1 ' +
        'and are signed for us-east-1',
    ])
  })

  test('a reload fetches its credential again, and ends the renewal of a removed one', async () => {
    const file = new MemoryFile(aws())
    const { gateway, requests, clock } = await cloudGateway({ file })
    await gateway.reload()
    expect(requests).toHaveLength(2)
    file.write(aws().replaceAll('credentials = "aws"', 'api_key_env = "P_KEY"'))
    await gateway.reload()
    await clock.advance(2 * 3_600_000)
    expect(requests).toHaveLength(2)
    await gateway.close()
  })

  test('the end of the gateway leaves no timer', async () => {
    const { gateway, clock } = await cloudGateway()
    expect(clock.pending).toBeGreaterThan(0)
    await gateway.close()
    expect(clock.pending).toBe(0)
  })
})

describe('a provider with credentials = "google"', () => {
  test('sends the token of the cloud, to the project of the cloud', async () => {
    const { chat, upstream } = await googleGateway()
    upstream.next(json(geminiAnswer))
    expect((await chat(asking())).status).toBe(200)
    const { url, headers } = upstream.requests[0] ?? {}
    expect(headers?.['authorization']).toBe('Bearer ya29.token-1')
    expect(headers?.['x-goog-user-project']).toBe('quota')
    expect(url).toContain('/v1/projects/my-project/locations/europe-west4/')
  })

  test('fetches a new token when the upstream refuses one, and repeats the call once', async () => {
    const { chat, upstream, requests } = await googleGateway()
    upstream.next(json({ error: { code: 401 } }, { status: 401 }), json(geminiAnswer))
    expect((await chat(asking())).status).toBe(200)
    expect(upstream.requests.map(({ headers }) => headers['authorization'])).toEqual([
      'Bearer ya29.token-1',
      'Bearer ya29.token-2',
    ])
    expect(requests).toHaveLength(2)
  })

  test('without a project it fails with what to set', async () => {
    const { chat } = await googleGateway({ project: undefined })
    expect(await readError(await chat(asking()))).toMatchObject({
      code: 'LM-3006',
      message: expect.stringContaining('set base_url to the full address'),
    })
  })
})

test('a provider with credentials = "azure" sends the token of the cloud, and no api-key', async () => {
  const config = `
[[providers]]
name = "azure"
kind = "azure"
base_url = "https://my-resource.openai.azure.com"
credentials = "azure"
[[providers.models]]
id = "m"
`
  const { chat, upstream } = await testGateway(config, {
    cloudCredentials: async () => ({
      kind: 'token',
      value: 'entra-token',
      origin: 'Azure managed identity',
      expiresAt: 1_764_003_600_000,
    }),
  })
  upstream.next(json(completion()))
  await chat(asking())
  const headers = upstream.requests[0]?.headers
  expect(headers?.['authorization']).toBe('Bearer entra-token')
  expect(headers).not.toHaveProperty('api-key')
})

describe('a check of the configuration', () => {
  test('fetches the credential, and has its origin or the reason', async () => {
    const held = await checkConfig(aws(), {}, { cloudCredentials: async () => key(1, Date.now()) })
    expect(held).toMatchObject({ overview: { providers: [{ credential: 'AWS instance role' }] } })
    const cloudCredentials = () => Promise.reject(new CloudCredentialError('no role'))
    expect(await checkConfig(aws(), {}, { cloudCredentials })).toMatchObject({
      overview: { providers: [{ missing: 'provider aws: no AWS credential: no role' }] },
    })
  })

  test.each([
    [
      'api_key_env = "KEY"',
      'providers[0].api_key_env (line 7): cannot be combined with credentials',
    ],
    [
      'messages_url = "https://a.test/v1/messages"',
      'providers[0].messages_url (line 7): cannot be combined with credentials',
    ],
  ])('refuses it with %s', async (setting, problem) => {
    expect(await checkConfig(aws(setting), {})).toEqual({ ok: false, problems: [problem] })
  })

  test('refuses it for a kind without it, and a profile without it', async () => {
    const other = aws()
      .replace('"bedrock"', '"openai"')
      .replace('"eu-central-1"', '"https://a.test"')
    expect(await checkConfig(other, {})).toEqual({
      ok: false,
      problems: ['providers[0].credentials (line 6): kind "openai" takes a key, not "aws"'],
    })
    const alone = aws().replace('credentials = "aws"', 'aws_profile = "prod"')
    expect(await checkConfig(alone, {})).toEqual({
      ok: false,
      problems: ['providers[0].aws_profile (line 6): needs credentials = "aws"'],
    })
  })
})

interface CloudGatewayOptions {
  readonly config?: string
  readonly file?: MemoryFile
  /** Why there is no credential. */
  readonly reason?: string
}

/** A gateway whose host provides access keys that last an hour: ASIA1, ASIA2 and so on. */
async function cloudGateway({ config, file, reason }: CloudGatewayOptions = {}) {
  const requests: Parameters<CloudCredentialPort>[0][] = []
  let problem = reason
  const gateway = await testGateway(config ?? file?.text ?? aws(), {
    configFile: file,
    cloudCredentials: async (request) => {
      requests.push(request)
      if (problem !== undefined) throw new CloudCredentialError(problem)
      return key(requests.length, 1_764_000_000_000 + (requests.length - 1) * 3_300_000)
    },
  })
  return {
    ...gateway,
    requests,
    issue() {
      problem = undefined
    },
  }
}

function key(number: number, issuedAt: number): CloudCredential {
  return {
    kind: 'access-key',
    id: `ASIA${number}`,
    secret,
    sessionToken,
    origin: 'AWS instance role',
    expiresAt: issuedAt + 3_600_000,
  }
}

const inProject = { project: 'my-project' }

const geminiAnswer = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }],
}

async function googleGateway({ project }: { readonly project?: string | undefined } = inProject) {
  const requests: unknown[] = []
  const config = `
[[providers]]
name = "vertex"
kind = "vertex_ai"
base_url = "europe-west4"
credentials = "google"
[[providers.models]]
id = "m"
upstream_id = "gemini-2.5-flash"
`
  const gateway = await testGateway(config, {
    cloudCredentials: async (request) => ({
      kind: 'token',
      value: `ya29.token-${requests.push(request)}`,
      origin: 'Google metadata server',
      expiresAt: 1_764_003_600_000,
      project,
      quotaProject: 'quota',
    }),
  })
  return { ...gateway, requests }
}

function lines(log: readonly LogLine[], level: string): readonly string[] {
  return log
    .filter((line) => line.level === level)
    .map(({ message, fields }) => `${message} ${fields['reason'] ?? ''}`)
}
