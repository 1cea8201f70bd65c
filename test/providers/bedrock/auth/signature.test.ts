import { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { json } from '../../../support/scripted-upstream.ts'
import { answered, asking, bedrockGateway, bench, sonnet } from '../support.ts'

const id = 'AKIDEXAMPLE1234567'.replace('AKID', 'AKIA')
const key = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'

/** The expected signatures were computed with AWS's own signer. */
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
  ])('%s is signed as by AWS’s own signer', async (_, credential, url, body, signature) => {
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

  test('each attempt is signed anew', async () => {
    const more = '[resilience]\nretry_base_ms = 4000'
    const { chat, clock, upstream } = await bedrockGateway({ secret: `${id}:${key}`, more })
    upstream.always(json({ message: 'busy' }, { status: 503 }))
    const answer = chat(asking())
    for (const _ of [1, 2, 3]) await clock.advance(10_000)
    expect((await answer).status).toBe(502)
    const dates = upstream.requests.map(({ headers }) => headers['x-amz-date'])
    expect(new Set(dates).size).toBe(3)
  })

  test('a request is signed for the region of the ARN, the credential or the environment', async () => {
    const readRegion = async (setup: Parameters<typeof bedrockGateway>[0]) => {
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
    expect(await readRegion({ settings, secret: own, upstreamId: arn, env })).toBe('ap-south-1')
    expect(await readRegion({ settings, secret: own, env })).toBe('eu-west-3')
    expect(await readRegion({ settings, secret: `${id}:${key}`, env })).toBe('ca-central-1')
    expect(await readRegion({ settings, secret: `${id}:${key}` })).toBe('us-east-1')
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
  ])('the gateway signs a request to %s like the official client', async (modelId) => {
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

/** A request inside of the official client. */
interface Outgoing {
  readonly protocol: string
  readonly hostname: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: Uint8Array
}

/** Returns the request of AWS's own client, without the headers that describe the client. */
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
    // The stack types each step differently; this step reads only what all of them have.
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
