import { describe, expect, test } from 'vitest'
import { buildAzureUrl } from '../../../src/providers/vendors/azure.ts'
import {
  completion,
  done,
  hello,
  makeChunk,
  role,
  stop,
  usageChunk,
  wholeStream,
} from '../../support/answers.ts'
import { expectErrorShape } from '../../support/contract.ts'
import { keyedGateway } from '../../support/keyed-gateway.ts'
import { json, stream } from '../../support/scripted-upstream.ts'
import { readStream, settlement, streamed } from '../../support/stream-client.ts'
import { watchedGateway } from '../../support/watched-gateway.ts'

const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
const origin = 'https://res.openai.azure.com'
const pinned = 'api-version=2024-10-21'

interface Setup {
  readonly baseUrl?: string
  readonly apiVersion?: string
  readonly deployment?: string
  readonly secret?: string
  readonly resilience?: string
}

function createGateway({
  baseUrl = origin,
  apiVersion,
  deployment = 'gpt-4.1',
  secret = 'k',
  resilience = '',
}: Setup) {
  const version = apiVersion === undefined ? '' : `api_version = "${apiVersion}"`
  return watchedGateway(
    `[resilience]\n${resilience}\n[[providers]]\nname = "p"\nkind = "azure"\napi_key_env = "KEY"\nbase_url = "${baseUrl}"\n${version}\nmodels = [{ id = "m", upstream_id = ${JSON.stringify(deployment)} }]`,
    { env: { KEY: secret } },
  )
}

async function findUrl(setup: Setup): Promise<string | undefined> {
  const { chat, upstream } = await createGateway(setup)
  upstream.next(json(completion()))
  expect((await chat(request)).status).toBe(200)
  expect(upstream.body()).toMatchObject({ model: setup.deployment ?? 'gpt-4.1' })
  return upstream.requests[0]?.url
}

describe('with auth on, the gateway asks for usage in streams', () => {
  const optionsAt = async (settings: string) => {
    const gateway = await keyedGateway(`
      [[providers]]
      name = "p"
      kind = "azure"
      api_key_env = "P_KEY"
      base_url = "${origin}"
      ${settings}
      models = [{ id = "m", upstream_id = "gpt-4.1" }]
    `)
    const { headers } = await gateway.key()
    gateway.upstream.next(stream([wholeStream]))
    await (await gateway.chat(streamed(), { headers })).text()
    return (gateway.upstream.body() as { stream_options?: unknown }).stream_options
  }

  test.each([
    ['the pinned version', ''],
    ['the first version with stream_options', 'api_version = "2024-09-01-preview"'],
    ['the v1 form', 'api_version = "v1"'],
    [
      'an older version when stream_usage is true',
      'api_version = "2024-02-01"\nstream_usage = true',
    ],
  ])('at %s', async (_, settings) => {
    expect(await optionsAt(settings)).toEqual({ include_usage: true })
  })

  test.each(['2024-08-01-preview', '2024-06-01', '2023-05-15'])(
    'with auth on, the gateway does not ask for usage at %s',
    async (version) => {
      expect(await optionsAt(`api_version = "${version}"`)).toBeUndefined()
    },
  )
})

const deployments = '/openai/deployments/gpt-4.1/chat/completions'

describe('the form of the address follows from base_url', () => {
  test.each([
    ['the bare resource', '', `${deployments}?${pinned}`],
    ['a trailing slash', '/', `${deployments}?${pinned}`],
    ['an /openai', '/openai', `${deployments}?${pinned}`],
    [
      'an /openai in capitals',
      '/OpenAI/',
      `/OpenAI/deployments/gpt-4.1/chat/completions?${pinned}`,
    ],
    ['the v1 form', '/openai/v1', '/openai/v1/chat/completions'],
    ['the v1 form with a slash', '/openai/v1/', '/openai/v1/chat/completions'],
    ['the v1 form in capitals', '/OPENAI/V1', '/OPENAI/V1/chat/completions'],
    [
      'a fixed deployment',
      '/openai/deployments/mine',
      `/openai/deployments/mine/chat/completions?${pinned}`,
    ],
    [
      'a pasted address',
      '/openai/deployments/mine/chat/completions?api-version=2025-01-01-preview',
      '/openai/deployments/mine/chat/completions?api-version=2025-01-01-preview',
    ],
    ['a pasted v1 address', '/openai/v1/chat/completions', '/openai/v1/chat/completions'],
    ['a pasted address of embeddings', '/openai/v1/embeddings', '/openai/v1/chat/completions'],
    ['API Management', '/my-api', `/my-api${deployments}?${pinned}`],
    ['API Management with a path', '/a/b/', `/a/b${deployments}?${pinned}`],
    ['a fragment', '/openai#x', `${deployments}?${pinned}`],
  ])('%s', async (_, path, expected) => {
    expect(await findUrl({ baseUrl: `${origin}${path}` })).toBe(`${origin}${expected}`)
  })

  test.each(['cognitiveservices.azure.com', 'services.ai.azure.com'])(
    'the form is the same on %s',
    async (host) => {
      expect(await findUrl({ baseUrl: `https://res.${host}` })).toBe(
        `https://res.${host}${deployments}?${pinned}`,
      )
    },
  )
})

describe('api-version', () => {
  test.each([
    ['the field', '', '2025-04-01-preview', `${deployments}?api-version=2025-04-01-preview`],
    [
      'the query of base_url',
      '?api-version=2024-06-01',
      undefined,
      `${deployments}?api-version=2024-06-01`,
    ],
    [
      'the field over the query, once',
      '?api-version=2024-06-01',
      '2024-02-01',
      `${deployments}?api-version=2024-02-01`,
    ],
    [
      'the field over a query that has it twice',
      '?api-version=a&x=1&api-version=b',
      '2024-02-01',
      `${deployments}?api-version=2024-02-01&x=1`,
    ],
    ['the pinned default', '', undefined, `${deployments}?${pinned}`],
    [
      'the default beside other parameters, which are kept',
      '?subscription-key=s',
      undefined,
      `${deployments}?subscription-key=s&${pinned}`,
    ],
    ['the pinned default for an empty one', '?api-version=', undefined, `${deployments}?${pinned}`],
    ['none in the v1 form', '/openai/v1', undefined, '/openai/v1/chat/completions'],
    [
      'the field in the v1 form',
      '/openai/v1',
      'preview',
      '/openai/v1/chat/completions?api-version=preview',
    ],
    [
      'the query in the v1 form',
      '/openai/v1?api-version=latest',
      undefined,
      '/openai/v1/chat/completions?api-version=latest',
    ],
    ['v1, which asks for that form', '', 'v1', '/openai/v1/chat/completions'],
    ['v1 after /openai', '/openai', 'v1', '/openai/v1/chat/completions'],
    ['v1 in the v1 form', '/openai/v1', 'v1', '/openai/v1/chat/completions'],
  ])('%s', async (_, more, apiVersion, expected) => {
    expect(
      await findUrl({
        baseUrl: `${origin}${more}`,
        ...(apiVersion !== undefined && { apiVersion }),
      }),
    ).toBe(`${origin}${expected}`)
  })

  test('other parameters of the query are kept', () => {
    const url = new URL(
      buildAzureUrl({
        baseUrl: `${origin}?subscription-key=a%2Bb%3D%3D&flag`,
        apiVersion: undefined,
        deployment: 'd',
        operation: '/embeddings',
      }),
    )
    expect(url.searchParams.get('subscription-key')).toBe('a+b==')
    expect(url.searchParams.has('flag')).toBe(true)
    expect(url.pathname).toBe('/openai/deployments/d/embeddings')
  })
})

test.each([
  ['a dot', 'gpt-4.1-mini', 'gpt-4.1-mini'],
  ['a space', 'my model', 'my%20model'],
  ['a slash', 'team/model', 'team%2Fmodel'],
  ['a question mark', 'a?b#c', 'a%3Fb%23c'],
  ['a percent sign', '50%', '50%25'],
  ['letters beyond ASCII', 'modèle', 'mod%C3%A8le'],
])('a deployment name with %s is encoded as one path segment', async (_, deployment, segment) => {
  expect(await findUrl({ deployment })).toBe(
    `${origin}/openai/deployments/${segment}/chat/completions?${pinned}`,
  )
})

describe('the credential', () => {
  const token = 'eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJ4In0.c2ln_-'

  test.each([
    ['a resource key', '0123456789abcdef', { 'api-key': '0123456789abcdef' }],
    ['a Microsoft Entra token', token, { authorization: `Bearer ${token}` }],
    ['a key that only starts like a token', 'eyJabc', { 'api-key': 'eyJabc' }],
    ['a key of three parts that is not a token', 'a.b.c', { 'api-key': 'a.b.c' }],
  ])('%s is sent in exactly one header', async (_, secret, expected) => {
    const { chat, upstream } = await createGateway({ secret })
    upstream.next(json(completion()))
    await chat(request)
    const { 'api-key': apiKey, authorization } = upstream.requests[0]?.headers ?? {}
    expect({
      ...(apiKey && { 'api-key': apiKey }),
      ...(authorization && { authorization }),
    }).toEqual(expected)
  })

  test('a missing credential is LM-3006 for a request that needs it', async () => {
    const { chat, upstream } = await watchedGateway(
      `[[providers]]\nname = "p"\nkind = "azure"\napi_key_env = "NOT_SET"\nbase_url = "${origin}"\nmodels = [{ id = "m" }]`,
    )
    expect(await expectErrorShape(await chat(request))).toMatchObject({ code: 'LM-3006' })
    expect(upstream.requests).toEqual([])
  })

  test('the credential is masked in upstream messages', async () => {
    const secret = '0123456789abcdef0123456789abcdef'
    const { chat, upstream } = await createGateway({ secret })
    upstream.next(json({ error: { code: '404', message: `no ${secret} here` } }, { status: 404 }))
    const { message } = await expectErrorShape(await chat(request))
    expect(message).toContain('no *** here')
  })
})

describe('streams', () => {
  const filterFrame = `data: ${JSON.stringify({
    choices: [],
    created: 0,
    id: '',
    model: '',
    object: '',
    prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }],
  })}\n\n`
  const asyncFilter = makeChunk({
    choices: [
      { index: 0, finish_reason: null, content_filter_results: {}, content_filter_offsets: {} },
    ],
  })

  test('a stream that begins with the filter frame commits on later content', async () => {
    const gateway = await createGateway({})
    gateway.upstream.next(stream([filterFrame, wholeStream]))
    expect(await readStream(gateway)).toBe(filterFrame + wholeStream)
  })

  test('a stream with only the filter frame is a failed attempt', async () => {
    const gateway = await createGateway({ resilience: 'retry_base_ms = 0' })
    gateway.upstream.next(stream([filterFrame + done]), stream([wholeStream]))
    const shown = readStream(gateway)
    await gateway.clock.advance(0)
    expect(await shown).toBe(wholeStream)
    expect(settlement(gateway.log)).toMatchObject({ attempts: 2 })
  })

  test('chunks without a delta may come before and after the finish reason', async () => {
    const gateway = await createGateway({})
    const sent = role + asyncFilter + hello + asyncFilter + stop + asyncFilter + usageChunk + done
    gateway.upstream.next(stream([sent]))
    expect(await readStream(gateway)).toBe(sent)
  })

  test('a stream with only chunks without a delta is a failed attempt', async () => {
    const gateway = await createGateway({ resilience: 'retry_max_attempts = 1' })
    gateway.upstream.next(stream([filterFrame + asyncFilter + asyncFilter + done]))
    const response = await gateway.chat({ ...request, stream: true })
    expect(await expectErrorShape(response)).toMatchObject({ code: 'LM-3010' })
  })
})

describe('errors', () => {
  const contentFilter = {
    error: {
      message: 'The response was filtered',
      type: null,
      param: 'prompt',
      code: 'content_filter',
      status: 400,
      innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: {} },
    },
  }

  test('a prompt refused by the content filter stays a 400, is not retried and does not count for the circuit', async () => {
    const { chat, upstream } = await createGateway({ resilience: 'circuit_failure_threshold = 1' })
    for (let turn = 0; turn < 3; turn++) {
      upstream.next(json(contentFilter, { status: 400 }))
      const response = await chat(request)
      expect(response.status).toBe(400)
      expect((await expectErrorShape(response)).message).toContain('The response was filtered')
    }
    expect(upstream.requests).toHaveLength(3)
  })

  test('an answer stopped by the filter is a valid answer', async () => {
    const { chat, upstream } = await createGateway({})
    upstream.next(
      json({ choices: [{ index: 0, message: { content: '' }, finish_reason: 'content_filter' }] }),
    )
    expect((await chat(request)).status).toBe(200)
  })

  test.each([
    [401, { error: { code: '401', message: 'Access denied' } }, 502, 'LM-3003'],
    [401, { statusCode: 401, message: 'Unauthorized. Access token is missing' }, 502, 'LM-3003'],
    [403, { error: { code: '403', message: 'Virtual Network' } }, 502, 'LM-3003'],
    [404, { error: { code: 'DeploymentNotFound', message: 'no deployment' } }, 404, 'LM-3003'],
    [408, { error: { code: 'Timeout', message: 'slow' } }, 504, 'LM-3005'],
    [500, { error: { code: 'InternalServerError', message: 'oops' } }, 502, 'LM-3003'],
  ])('status %i with %j', async (status, body, expected, code) => {
    const { chat, upstream } = await createGateway({ resilience: 'retry_max_attempts = 1' })
    upstream.next(json(body, { status }))
    const response = await chat(request)
    expect(response.status).toBe(expected)
    expect(await expectErrorShape(response)).toMatchObject({ code })
  })

  test('a retry-after of a day is not waited for', async () => {
    const { chat, upstream } = await createGateway({})
    upstream.next(
      json(
        { error: { code: '429', message: 'Please retry after 86400 seconds.' } },
        { status: 429, headers: { 'retry-after': '86400' } },
      ),
    )
    const response = await chat(request)
    expect(response.status).toBe(429)
    expect(response.headers.get('retry-after')).toBe('86400')
  })
})
