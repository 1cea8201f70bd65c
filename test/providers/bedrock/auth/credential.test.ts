import { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime'
import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  ambientAwsSecret,
  readAwsSecret,
} from '../../../../src/providers/bedrock/auth/credential.ts'
import { errorOf, testGateway } from '../../../support/gateway.ts'
import { settled } from '../../../support/manual-clock.ts'
import { json } from '../../../support/scripted-upstream.ts'
import { answered, asking, bedrockGateway, bench, patiently, sonnet } from '../support.ts'

const id = 'AKIDEXAMPLE1234567'.replace('AKID', 'AKIA')
const key = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'

describe('a secret', () => {
  const pair = { kind: 'access-key', id, secret: key }

  test.each([
    ['two halves', `${id}:${key}`, pair],
    ['three parts', `${id}:${key}:tok/en+=`, { ...pair, sessionToken: 'tok/en+=' }],
    ['a temporary id', `ASIA1234567890123456:${key}:t`, { id: 'ASIA1234567890123456' }],
    ['blanks around it', ` ${id}:${key}\n`, pair],
    [
      'JSON in our words',
      JSON.stringify({ access_key_id: 'test', secret_access_key: 'test', region: 'eu-west-3' }),
      { kind: 'access-key', id: 'test', secret: 'test', region: 'eu-west-3' },
    ],
    [
      'JSON as the AWS command line writes it',
      JSON.stringify({ Version: 1, AccessKeyId: id, SecretAccessKey: key, SessionToken: 't' }),
      { ...pair, sessionToken: 't' },
    ],
    ['JSON with an API key', '{"api_key":"k"}', { kind: 'api-key', key: 'k' }],
    ['a long-term API key', 'ABSKQmVkcm9ja0FQSUtleQ==', { kind: 'api-key' }],
    ['a short-term API key', 'bedrock-api-key-YmVk:x', { kind: 'api-key' }],
    ['whatever else', 'anything', { kind: 'api-key', key: 'anything' }],
    ['JSON that is broken', '{"access_key_id":', { kind: 'unusable' }],
    ['JSON with half a key', JSON.stringify({ access_key_id: id }), { kind: 'unusable' }],
    ['JSON with numbers', JSON.stringify({ api_key: 7 }), { kind: 'unusable' }],
    ['an id alone', id, { kind: 'unusable' }],
  ])('of %s', (_, secret, expected) => {
    expect(readAwsSecret(secret, {})).toMatchObject(expected)
  })

  test('of an id alone finds its other half in the environment', () => {
    const env = { AWS_SECRET_ACCESS_KEY: key, AWS_SESSION_TOKEN: 't' }
    expect(readAwsSecret(id, env)).toEqual({ ...pair, sessionToken: 't' })
    expect(readAwsSecret(id, { ...env, AWS_SESSION_TOKEN: '' })).toEqual(pair)
  })
})

describe('the environment', () => {
  const pair = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: key }

  test.each([
    ['nothing', {}, undefined],
    ['half a pair', { AWS_ACCESS_KEY_ID: 'test' }, undefined],
    ['empty values', { ...pair, AWS_SECRET_ACCESS_KEY: '' }, undefined],
    ['a pair', pair, { kind: 'access-key', id: 'test', secret: key, sessionToken: undefined }],
    ['a triple', { ...pair, AWS_SESSION_TOKEN: 't' }, { sessionToken: 't' }],
    ['an API key', { AWS_BEARER_TOKEN_BEDROCK: 'k' }, { kind: 'api-key', key: 'k' }],
    ['both', { ...pair, AWS_BEARER_TOKEN_BEDROCK: 'k' }, { kind: 'api-key', key: 'k' }],
  ])('with %s', (_, env, expected) => {
    const secret = ambientAwsSecret(env)
    if (expected === undefined) expect(secret).toBeUndefined()
    else expect(readAwsSecret(secret ?? '', env)).toMatchObject(expected)
  })

  test('serves a provider that names no variable', async () => {
    const config = '[[providers]]\nname = "p"\nkind = "bedrock"\n[[providers.models]]\nid = "m"'
    const { chat, upstream } = await testGateway(config, {
      env: { AWS_BEARER_TOKEN_BEDROCK: 'ambient-key', AWS_REGION: 'eu-north-1' },
    })
    upstream.next(json(answered([{ text: 'Hi' }])))
    expect((await chat(asking())).status).toBe(200)
    expect(upstream.requests[0]).toMatchObject({
      url: 'https://bedrock-runtime.eu-north-1.amazonaws.com/model/m/converse',
      headers: { authorization: 'Bearer ambient-key' },
    })
  })
})

describe('a credential that is of no use', () => {
  test.each([
    ['half a key', id, /an access key id alone needs AWS_SECRET_ACCESS_KEY$/],
    ['broken JSON', '{"a":', /it starts like JSON and is no valid object$/],
  ])('(%s) fails the request without a call, and without being shown', async (_, secret, why) => {
    const gateway = await bedrockGateway({ secret })
    const response = await patiently(gateway, gateway.chat(asking()))
    expect(response.status).toBe(502)
    const { code, message } = await errorOf(response)
    expect(code).toBe('LM-3006')
    expect(message).toMatch(why)
    expect(message).not.toContain(secret)
    expect(gateway.upstream.requests).toEqual([])
  })
})

/** Computed with AWS's own signer for the key pair of its documentation. */
describe('a signature', () => {
  const hi = '{"messages":[{"role":"user","content":[{"text":"hi"}]}]}'
  const cloud = 'https://bedrock-runtime.us-east-1.amazonaws.com'
  const keys = { access_key_id: 'AKIDEXAMPLE', secret_access_key: key }

  test.each([
    [
      'a versioned model id',
      keys,
      `${cloud}/model/anthropic.claude-3-5-sonnet-20240620-v1%3A0/converse`,
      hi,
      '878cd741adcb06966cefc114e1ffdf04b72db313272658a87bf3a0d83dbd552e',
    ],
    [
      'an ARN and a session token',
      { ...keys, session_token: 'SESSIONTOKEN' },
      `${cloud}/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fabc123xyz/converse-stream`,
      hi,
      'b9dccd44a0fa1e96cb978bd0ffa9cb40653764b4112f22ad7912ed3865b56b20',
    ],
    [
      'a host with a port',
      keys,
      'http://127.0.0.1:8123/model/amazon.titan-embed-text-v2%3A0/invoke',
      '{"inputText":"x"}',
      '1575b9b4db28fa3841acab19293d0a7c4d16311486a776156bbb3f0bff62b6b5',
    ],
  ])('of %s', async (_, credential, url, body, signature) => {
    const headers = await bench(JSON.stringify(credential)).headers(url, body)
    const token = 'session_token' in credential
    const signed = `content-type;host;x-amz-content-sha256;x-amz-date${token ? ';x-amz-security-token' : ''}`
    const scope = 'AKIDEXAMPLE/20260115/us-east-1/bedrock/aws4_request'
    expect(headers).toMatchObject({
      authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=${signed}, Signature=${signature}`,
      'x-amz-date': '20260115T120000Z',
    })
    expect(headers['x-amz-security-token']).toBe(token ? 'SESSIONTOKEN' : undefined)
  })

  test('is made anew for each attempt', async () => {
    const more = '[resilience]\nretry_base_ms = 4000'
    const { chat, clock, upstream } = await bedrockGateway({ secret: `${id}:${key}`, more })
    upstream.always(json({ message: 'busy' }, { status: 503 }))
    const answer = chat(asking())
    for (const attempt of [1, 2, 3]) {
      // Signing takes turns of the event loop that no clock counts.
      while (upstream.requests.length < attempt) await settled()
      await clock.advance(10_000)
    }
    expect((await answer).status).toBe(502)
    const dates = upstream.requests.map(({ headers }) => headers['x-amz-date'])
    expect(new Set(dates).size).toBe(3)
  })

  test('is for the region of the ARN, of the credential, or of the environment', async () => {
    const regionOf = async (setup: Parameters<typeof bedrockGateway>[0]) => {
      const gateway = await bedrockGateway(setup)
      gateway.upstream.next(json(answered([{ text: 'Hi' }])))
      await gateway.chat(asking())
      const { authorization = '' } = gateway.upstream.requests[0]?.headers ?? {}
      return authorization.split('/')[2]
    }
    const settings = 'base_url = "https://proxy.test/aws"'
    const arn = 'arn:aws:bedrock:ap-south-1:123456789012:inference-profile/x'
    const own = JSON.stringify({ ...keys, region: 'eu-west-3' })
    const env = { AWS_REGION: 'ca-central-1' }
    expect(await regionOf({ settings, secret: own, upstreamId: arn, env })).toBe('ap-south-1')
    expect(await regionOf({ settings, secret: own, env })).toBe('eu-west-3')
    expect(await regionOf({ settings, secret: `${id}:${key}`, env })).toBe('ca-central-1')
    expect(await regionOf({ settings, secret: `${id}:${key}` })).toBe('us-east-1')
  })
})

describe('the official client', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  test.each([
    sonnet,
    'amazon.nova-lite-v1:0',
    'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123xyz',
  ])('signs the same request in the same way: %s', async (modelId) => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 15, 12), toFake: ['Date'] })
    const sent = await sentByOfficialClient(modelId)
    const headers = await bench(`${id}:${key}:token`).headers(sent.url, sent.body)
    expect(headers).toEqual(sent.headers)
  })
})

interface Sent {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A request within the official client. */
interface Outgoing {
  readonly protocol: string
  readonly hostname: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: Uint8Array
}

/** What AWS's own client puts on the wire, less the headers that tell of the client itself. */
async function sentByOfficialClient(modelId: string): Promise<Sent> {
  let sent: Sent | undefined
  const client = new BedrockRuntimeClient({
    region: 'us-east-1',
    credentials: { accessKeyId: id, secretAccessKey: key, sessionToken: 'token' },
    maxAttempts: 1,
    requestHandler: {
      handle: async ({ protocol, hostname, path, headers, body }: Outgoing) => {
        const { host: _, ...others } = headers
        const text = new TextDecoder().decode(body)
        sent = { url: `${protocol}//${hostname}${path}`, headers: others, body: text }
        throw new Error('sent')
      },
    },
  })
  client.middlewareStack.addRelativeTo(
    // The types of the stack tell its steps apart; this one reads what all of them have.
    withoutClientHeaders as never,
    { relation: 'before', toMiddleware: 'httpSigningMiddleware', name: 'withoutClientHeaders' },
  )
  const command = new ConverseCommand({
    modelId,
    messages: [{ role: 'user', content: [{ text: 'Grüße' }] }],
  })
  await expect(client.send(command)).rejects.toThrow('sent')
  return sent ?? expect.unreachable()
}

interface Step {
  readonly request: Pick<Outgoing, 'headers'>
}

function withoutClientHeaders<T>(next: (step: Step) => T): (step: Step) => T {
  return (step) => {
    for (const name of Object.keys(step.request.headers)) {
      if (/^(?:amz-sdk-|user-agent|x-amz-user-agent|content-length)/.test(name)) {
        delete step.request.headers[name]
      }
    }
    return next(step)
  }
}
