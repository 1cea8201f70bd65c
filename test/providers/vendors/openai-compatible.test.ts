import { describe, expect, test } from 'vitest'
import { openAiCompatibleKinds } from '../../../src/providers/vendors/openai-compatible.ts'
import { completion, wholeStream } from '../../support/answers.ts'
import { expectErrorShape } from '../../support/contract.ts'
import { json, type Responder, stream, whole } from '../../support/scripted-upstream.ts'
import { settlement, streamed } from '../../support/stream-client.ts'
import { watchedGateway } from '../../support/watched-gateway.ts'

const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
const key = 'key-canary-0123456789'

interface Setup {
  readonly kind: string
  readonly baseUrl?: string | undefined
  readonly settings?: string
}

function createGateway({ kind, baseUrl, settings = '' }: Setup, variables = 'api_key_env = "KEY"') {
  const address = baseUrl === undefined ? '' : `base_url = ${JSON.stringify(baseUrl)}`
  return watchedGateway(
    `[resilience]\nretry_base_ms = 0\ncircuit_failure_threshold = 100\n[[providers]]\nname = "p"\nkind = "${kind}"\n${variables}\n${address}\n${settings}\nmodels = [{ id = "m", upstream_id = "u" }]`,
    { env: { KEY: key } },
  )
}

/** The vendors' public addresses; null when `base_url` is required. */
const vendors: Readonly<Record<string, string | null>> = {
  openai: 'https://api.openai.com/v1',
  vllm: null,
  mistral: 'https://api.mistral.ai/v1',
  together: 'https://api.together.ai/v1',
  groq: 'https://api.groq.com/openai/v1',
  fireworks: 'https://api.fireworks.ai/inference/v1',
  deepseek: 'https://api.deepseek.com',
  openrouter: 'https://openrouter.ai/api/v1',
  perplexity: 'https://api.perplexity.ai',
  xai: 'https://api.x.ai/v1',
  deepinfra: 'https://api.deepinfra.com/v1/openai',
  huggingface: 'https://router.huggingface.co/v1',
  cloudflare: null,
  cerebras: 'https://api.cerebras.ai/v1',
  sambanova: 'https://api.sambanova.ai/v1',
  nvidia: 'https://integrate.api.nvidia.com/v1',
  moonshot: 'https://api.moonshot.ai/v1',
  zai: 'https://api.z.ai/api/paas/v4',
  minimax: 'https://api.minimax.io/v1',
  dashscope: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
  siliconflow: 'https://api.siliconflow.com/v1',
  novita: 'https://api.novita.ai/openai/v1',
  nebius: 'https://api.tokenfactory.nebius.com/v1',
  stepfun: 'https://api.stepfun.ai/v1',
  volcengine: 'https://ark.cn-beijing.volces.com/api/v3',
  sglang: null,
  llamacpp: null,
  lmstudio: null,
  ollama: 'http://localhost:11434/v1',
}
const cloudflareBase = 'https://api.cloudflare.com/client/v4/accounts/0a1b/ai/v1'

test('the table lists exactly the OpenAI-compatible kinds', () => {
  expect(openAiCompatibleKinds.map(({ name }) => name).sort()).toEqual(Object.keys(vendors).sort())
})

describe.each(Object.entries(vendors))('%s', (kind, address) => {
  const own = kind === 'cloudflare' ? cloudflareBase : 'http://host.test:8000/v1'
  const setup: Setup = { kind, baseUrl: address === null ? own : undefined }

  test('requests go to the vendor’s address with the key as a bearer token', async () => {
    const { chat, upstream } = await createGateway(setup)
    upstream.next(json(completion()), stream([wholeStream]))
    expect((await chat(request)).status).toBe(200)
    await (await chat(streamed())).text()
    for (const sent of upstream.requests) {
      expect(sent.url).toBe(`${address ?? own}/chat/completions`)
      expect(sent.headers).toMatchObject({
        authorization: `Bearer ${key}`,
        'user-agent': expect.stringMatching(/^model-gateway\/./),
      })
    }
    expect(upstream.body(0)).toEqual({ ...request, model: 'u' })
  })

  test('requests to another address need no key', async () => {
    const { chat, upstream } = await createGateway({ kind, baseUrl: 'http://localhost:9/v1' }, '')
    upstream.next(json(completion()))
    expect((await chat(request)).status).toBe(200)
    expect(upstream.requests[0]?.url).toBe('http://localhost:9/v1/chat/completions')
    expect(upstream.requests[0]?.headers).not.toHaveProperty('authorization')
  })
})

describe('base_url', () => {
  test.each([
    ['openai', 'http://host:8000', 'http://host:8000/v1/chat/completions'],
    ['openai', 'http://host:8000/', 'http://host:8000/v1/chat/completions'],
    ['openai', 'http://host:8000/v1', 'http://host:8000/v1/chat/completions'],
    ['openai', 'http://host:8000/v1/', 'http://host:8000/v1/chat/completions'],
    ['openai', 'http://host:8000/v1//', 'http://host:8000/v1/chat/completions'],
    ['openai', 'http://host/proxy/llm', 'http://host/proxy/llm/chat/completions'],
    ['openai', 'https://api.z.ai/api/paas/v4', 'https://api.z.ai/api/paas/v4/chat/completions'],
    [
      'openai',
      'https://models.github.ai/inference',
      'https://models.github.ai/inference/chat/completions',
    ],
    ['openai', 'http://host/v1/chat/completions', 'http://host/v1/chat/completions'],
    ['openai', 'http://host/v1/chat/completions/', 'http://host/v1/chat/completions'],
    ['openai', 'http://host/v1//chat/completions', 'http://host/v1/chat/completions'],
    ['openai', 'http://host/v1/embeddings', 'http://host/v1/chat/completions'],
    ['openai', 'http://host/chat/completions', 'http://host/v1/chat/completions'],
    ['openai', 'http://host/v1?tenant=a%20b&x', 'http://host/v1/chat/completions?tenant=a%20b&x'],
    ['openai', 'http://host?key=a/b', 'http://host/v1/chat/completions?key=a/b'],
    ['openai', 'http://host/v1#part', 'http://host/v1/chat/completions'],
    ['openai', 'http://[::1]:8080', 'http://[::1]:8080/v1/chat/completions'],
    ['openai', 'HTTP://HOST/V1', 'http://host/V1/chat/completions'],
    ['vllm', 'http://host:8000', 'http://host:8000/v1/chat/completions'],
    ['ollama', 'http://host:11434', 'http://host:11434/v1/chat/completions'],
    ['ollama', 'https://ollama.com/v1', 'https://ollama.com/v1/chat/completions'],
    ['groq', 'https://proxy.test', 'https://proxy.test/openai/v1/chat/completions'],
    ['fireworks', 'https://proxy.test', 'https://proxy.test/inference/v1/chat/completions'],
    ['openrouter', 'https://proxy.test', 'https://proxy.test/api/v1/chat/completions'],
    ['deepinfra', 'https://proxy.test', 'https://proxy.test/v1/openai/chat/completions'],
    ['perplexity', 'https://proxy.test', 'https://proxy.test/chat/completions'],
    ['deepseek', 'https://proxy.test/', 'https://proxy.test/chat/completions'],
    ['deepseek', 'https://api.deepseek.com/v1', 'https://api.deepseek.com/v1/chat/completions'],
    [
      'mistral',
      'https://codestral.mistral.ai/v1',
      'https://codestral.mistral.ai/v1/chat/completions',
    ],
    ['together', 'https://api.together.xyz/v1', 'https://api.together.xyz/v1/chat/completions'],
    ['cloudflare', cloudflareBase, `${cloudflareBase}/chat/completions`],
  ])('for %s, %s leads to %s', async (kind, baseUrl, url) => {
    const { chat, upstream } = await createGateway({ kind, baseUrl })
    upstream.next(json(completion()))
    await chat(request)
    expect(upstream.requests[0]?.url).toBe(url)
  })
})

describe('a missing credential fails only requests to its provider', () => {
  const config = `
    [[providers]]
    name = "unset"
    kind = "openai"
    api_key_env = "NOT_SET"
    models = [{ id = "m" }]
    [[providers]]
    name = "blank"
    kind = "openai"
    api_key_env = "BLANK"
    base_url = "http://own.test"
    models = [{ id = "blank" }]
    [[providers]]
    name = "unnamed"
    kind = "openai"
    models = [{ id = "unnamed" }]
    [[providers]]
    name = "good"
    kind = "openai"
    api_key_env = "KEY"
    models = [{ id = "good" }]
    [[providers]]
    name = "local"
    kind = "ollama"
    models = [{ id = "local" }]
  `
  const gateway = () => watchedGateway(config, { env: { KEY: key, BLANK: '' } })

  test.each([
    ['m', 'provider unset has no credential: the variable NOT_SET is unset or empty'],
    ['blank', 'provider blank has no credential: the variable BLANK is unset or empty'],
    [
      'unnamed',
      'provider unnamed has no credential: set api_key_env to the variable that holds its key',
    ],
  ])('a request for %s is a 502 LM-3006 without an upstream call', async (model, message) => {
    const { chat, upstream, log } = await gateway()
    for (const body of [{ ...request, model }, streamed({ model })]) {
      const response = await chat(body)
      expect(response.status).toBe(502)
      expect(response.headers.get('x-should-retry')).toBe('false')
      expect(await expectErrorShape(response)).toMatchObject({
        code: 'LM-3006',
        type: 'upstream_error',
        message,
      })
      expect(settlement(log.splice(0))).toMatchObject({ attempts: 0, error_code: 'LM-3006' })
    }
    expect(upstream.requests).toEqual([])
  })

  test.each([
    ['good', `Bearer ${key}`],
    ['local', undefined],
  ])('a request for %s is served', async (model, authorization) => {
    const { chat, upstream } = await gateway()
    upstream.next(json(completion()))
    expect((await chat({ ...request, model })).status).toBe(200)
    expect(upstream.requests[0]?.headers['authorization']).toBe(authorization)
  })
})

describe('a status that a vendor uses with another meaning', () => {
  test.each([
    ['groq', 498, { error: { message: 'flex capacity' } }, 429, 'LM-3001', 3],
    ['openai', 498, { error: { message: 'x' } }, 498, 'LM-3003', 1],
    [
      'xai',
      400,
      { code: 'invalid', error: 'Incorrect API key provided: xa***' },
      502,
      'LM-3003',
      1,
    ],
    ['xai', 400, { code: 'invalid', error: 'max_tokens is too large' }, 400, 'LM-3003', 1],
    ['openai', 400, { error: { message: 'no such API key name' } }, 400, 'LM-3003', 1],
    ['nvidia', 202, {}, 502, 'LM-3003', 3],
    ['together', 524, {}, 502, 'LM-3003', 3],
    ['deepseek', 402, { error: { message: 'Insufficient Balance' } }, 502, 'LM-3003', 1],
    [
      'cloudflare',
      429,
      { errors: [{ code: 3036, message: 'daily allocation' }] },
      429,
      'LM-3001',
      3,
    ],
    ['cloudflare', 408, { errors: [{ code: 3007, message: 'timeout' }] }, 504, 'LM-3005', 3],
    ['groq', 413, { error: { message: 'too large' } }, 400, 'LM-2012', 1],
  ])('%s: status %i with %j', async (kind, status, body, expected, code, attempts) => {
    const { chat, upstream, clock, log } = await createGateway({
      kind,
      baseUrl: 'http://own.test/v1',
    })
    upstream.always(json(body, { status }))
    const pending = chat(request)
    await clock.advance(0)
    const response = await pending
    expect(response.status).toBe(expected)
    expect(await expectErrorShape(response)).toMatchObject({ code })
    expect(settlement(log)).toMatchObject({ attempts })
  })
})

describe('an error with status 200, as OpenRouter sends it, counts as the status that it names', () => {
  const error = (code: unknown, message = 'Provider returned error'): Responder =>
    json({ error: { code, message, metadata: {} }, user_id: 'u' })

  test.each([
    [400, 400, 'LM-3003', 1],
    [402, 502, 'LM-3003', 1],
    [408, 504, 'LM-3005', 3],
    [429, 429, 'LM-3001', 3],
    ['429', 429, 'LM-3001', 3],
    [502, 502, 'LM-3003', 3],
    [503, 502, 'LM-3003', 3],
    [200, 502, 'LM-3002', 3],
    [7, 502, 'LM-3002', 3],
    ['boom', 502, 'LM-3002', 3],
    [undefined, 502, 'LM-3002', 3],
    [1e21, 502, 'LM-3002', 3],
  ])('the error %j is a %i %s', async (named, status, code, attempts) => {
    const { chat, upstream, clock, log } = await createGateway({ kind: 'openrouter' })
    upstream.always(error(named))
    const pending = chat(request)
    await clock.advance(0)
    const response = await pending
    expect(response.status).toBe(status)
    const shown = await expectErrorShape(response)
    expect(shown.code).toBe(code)
    expect(shown.message).toContain('Provider returned error')
    expect(settlement(log)).toMatchObject({ attempts })
  })
})

describe('the error message is found in every shape that vendors use', () => {
  test.each([
    ['openai', { error: { message: 'bad thing', type: 't', param: null, code: null } }],
    ['vllm, old', { object: 'error', message: 'bad thing', type: 't', code: 400 }],
    ['vllm without a key', { error: 'bad thing' }],
    ['xai', { code: 'invalid', error: 'bad thing' }],
    ['together, old', { message: 'bad thing' }],
    [
      'cloudflare',
      {
        success: false,
        errors: [{ code: 5007, message: 'bad thing' }],
        messages: [],
        result: null,
      },
    ],
    ['deepinfra', { detail: 'bad thing' }],
    ['deepinfra, nested', { detail: { error: 'bad thing' } }],
    ['mistral, nested', { object: 'error', message: { detail: 'bad thing' } }],
    ['fireworks', { fault: { faultstring: 'bad thing', detail: { errorcode: 'x' } } }],
    ['azure through API Management', { statusCode: 400, message: 'bad thing' }],
    ['Google’s layer, a list', [{ error: { code: 400, message: 'bad thing', status: 'X' } }]],
    ['SiliconFlow', { code: 20012, message: 'bad thing', data: null }],
    ['a bare string', 'bad thing'],
    ['with white space', { error: { message: '  bad\n\n\t thing ' } }],
    ['an empty message in error', { error: { message: '' }, message: 'bad thing' }],
  ])('%s', async (_, body) => {
    expect(await messageOf(whole(JSON.stringify(body), { status: 400 }))).toBe('bad thing')
  })

  test.each([
    [
      'validation with a location',
      { detail: [{ type: 'x', loc: ['body', 'n'], msg: 'too large' }] },
      'body.n: too large',
    ],
    ['validation without a location', { detail: [{ msg: 'too large' }] }, 'too large'],
    [
      'nvidia’s problem details',
      { type: 'urn', title: 'Bad Request', status: 400, detail: 'too large' },
      'Bad Request: too large',
    ],
    ['a title alone', { title: 'Bad Request' }, 'Bad Request'],
    ['a message that is an object', { error: { message: { why: 'x' } } }, '{"why":"x"}'],
    ['a message that is a list', { message: [{ loc: 1 }] }, '[{"loc":1}]'],
    ['an unknown shape', { why: 'x', n: [1] }, '{"why":"x","n":[1]}'],
  ])('%s', async (_, body, expected) => {
    expect(await messageOf(json(body, { status: 400 }))).toBe(expected)
  })

  test.each([
    ['no body', ''],
    ['markup', '<html><body>Bad Gateway</body></html>'],
    ['markup after white space', '\n  <!DOCTYPE html>'],
    ['markup as the message', '{"error":{"message":"<html>x</html>"}}'],
    ['null', 'null'],
    ['a number', '7'],
    ['an empty list', '[]'],
  ])('there is no message in %s', async (_, body) => {
    expect(await messageOf(whole(body, { status: 400 }))).toBe('')
  })

  test('plain text is the message, up to 300 characters', async () => {
    expect(await messageOf(whole('upstream says no', { status: 400 }))).toBe('upstream says no')
    const long = await messageOf(whole('x'.repeat(5000), { status: 400 }))
    expect(long).toBe(`${'x'.repeat(299)}…`)
  })

  async function messageOf(responder: Responder): Promise<string> {
    const { chat, upstream } = await createGateway({ kind: 'openai' })
    upstream.next(responder)
    const { message } = await expectErrorShape(await chat(request))
    const intro = 'provider p refused the request with status 400'
    expect(message.startsWith(intro)).toBe(true)
    return message.slice(intro.length).replace(/^: /, '')
  }
})

describe('vendor quirks', () => {
  test('deepseek: blank lines before an answer are passed on', async () => {
    const { chat, upstream } = await createGateway({ kind: 'deepseek' })
    const text = `\n\n\n${JSON.stringify(completion())}`
    upstream.next(whole(text))
    expect(await (await chat(request)).text()).toBe(text)
  })

  test('mistral: the text of parts is counted', async () => {
    const { chat, upstream, log } = await createGateway({ kind: 'mistral' })
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'abcd' }] },
      { type: 'text', text: 'abcd' },
    ]
    upstream.next(json({ choices: [{ message: { role: 'assistant', content } }] }))
    await chat(request)
    expect(settlement(log)).toMatchObject({ tokens_out: 2, estimated: true })
  })

  test('mistral: fields that it refuses are forwarded, because bodies are sent unchanged', async () => {
    const { chat, upstream } = await createGateway({ kind: 'mistral' })
    upstream.next(json(completion()))
    const body = { ...request, seed: 1, logprobs: true, max_completion_tokens: 5 }
    await chat(body)
    expect(upstream.body()).toEqual({ ...body, model: 'u' })
  })

  test('strict = true refuses nothing, because verbatim kinds forward everything', async () => {
    const { chat, upstream } = await createGateway({ kind: 'openai', settings: 'strict = true' })
    upstream.next(json(completion()))
    const response = await chat({ ...request, nobody_knows: 1, logit_bias: {}, seed: 1 })
    expect(response.status).toBe(200)
  })
})
