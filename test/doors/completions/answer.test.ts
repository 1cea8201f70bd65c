import { describe, expect, test } from 'vitest'
import { kinds } from '../../../src/providers/index.ts'
import { byProvider, called, makeChain } from '../../support/chain.ts'
import { complete, textAnswer, textCompletion, textUsage } from '../../support/completions.ts'
import { expectCommonHeaders, expectErrorShape } from '../../support/contract.ts'
import { json, whole } from '../../support/scripted-upstream.ts'
import { settlement } from '../../support/stream-client.ts'
import { watchedGateway } from '../../support/watched-gateway.ts'

describe('a request', () => {
  test('the bytes of the client pass with only the model changed', async () => {
    const gateway = await watchedGateway()
    gateway.upstream.next(textAnswer())
    const body = '{"prompt" :["a",\t"b"],"model":"m", "logit_bias":{"5":1e0},"suffix":"\\u0041"}\n'
    expect((await complete(gateway, body)).status).toBe(200)
    expect(gateway.upstream.requests[0]?.url).toBe('https://api.openai.com/v1/completions')
    expect(gateway.upstream.text()).toBe(body.replace('"m"', '"upstream-m"'))
  })

  const openAiKinds = kinds
    .filter(({ name, native }) => native?.completions && name !== 'demo')
    .map(({ name }) => name)

  test('every kind of the OpenAI format serves it', () => {
    expect(openAiKinds).toEqual(expect.arrayContaining(['openai', 'azure', 'vllm', 'ollama']))
  })

  test.each(openAiKinds)('it reaches the completions path of kind %s', async (kind) => {
    const gateway = await watchedGateway(makeChain([{ kind, path: '/v1' }]))
    gateway.upstream.next(textAnswer())
    expect(await (await complete(gateway)).json()).toMatchObject({ object: 'text_completion' })
    const { origin, pathname } = new URL(gateway.upstream.requests[0]?.url ?? '')
    expect(origin).toBe('https://p.test')
    expect(pathname).toMatch(
      kind === 'azure' ? /\/openai\/deployments\/m\/completions$/ : /^\/v1\/completions$/,
    )
  })

  test('an address that ends in the operation is used once', async () => {
    const gateway = await watchedGateway(makeChain([{ path: '/v1/completions' }]))
    gateway.upstream.next(textAnswer())
    await (await complete(gateway)).text()
    expect(gateway.upstream.requests[0]?.url).toBe('https://p.test/v1/completions')
  })

  test.each([
    ['a text', 'x'],
    ['an empty text', ''],
    ['texts', ['x', 'y']],
    ['token ids', [1, 2, 3]],
    ['lists of token ids', [[1], [2, 3]]],
    ['texts and lists of token ids', ['x', [2, 3]]],
    ['null', null],
  ])('the prompt may be %s', async (_, prompt) => {
    const gateway = await watchedGateway()
    gateway.upstream.next(textAnswer())
    expect((await complete(gateway, { prompt })).status).toBe(200)
    expect(gateway.upstream.body()).toMatchObject({ prompt })
  })

  test.each([
    [{ prompt: 5 }, 'prompt', 'prompt: must be a string, or an array of strings or token ids'],
    [{ prompt: [] }, 'prompt', 'prompt: must not be empty'],
    [{ prompt: ['a', 5] }, 'prompt.1', 'prompt.1: must be a string or an array of token ids'],
    [{ prompt: [1, 'a'] }, 'prompt.1', 'prompt.1: must be a token id'],
    [{ prompt: [1, -1] }, 'prompt.1', 'prompt.1: must be a token id'],
    [{ prompt: ['a', [1, 2.5]] }, 'prompt.1.1', 'prompt.1.1: must be a token id'],
    [
      { prompt: [{ text: 'a' }] },
      'prompt.0',
      'prompt.0: must be a string or an array of token ids',
    ],
    [{ model: 5 }, 'model', 'model: must be a string'],
    [{ model: undefined }, 'model', 'model is required'],
    [{ suffix: 5 }, 'suffix', 'suffix: must be a string'],
    [{ stream: 'yes' }, 'stream', 'stream: must be true or false'],
    [{ stream_options: 5 }, 'stream_options', 'stream_options: must be an object'],
    [{ max_tokens: -1 }, 'max_tokens', 'max_tokens: must be at least 0'],
    [{ max_tokens: 1.5 }, 'max_tokens', 'max_tokens: must be a whole number'],
    [{ n: 0 }, 'n', 'n: must be more than 0'],
    [{ best_of: '2' }, 'best_of', 'best_of: must be a number'],
  ])('%j is refused with the field', async (fields, param, message) => {
    const gateway = await watchedGateway()
    const response = await complete(gateway, fields)
    expect(response.status).toBe(400)
    expect(response.headers.get('x-gateway-attempts')).toBe('0')
    expect(await expectErrorShape(response)).toMatchObject({ code: 'LM-1001', param, message })
  })

  test.each(['model', 'stream', 'n', 'best_of', 'max_tokens', 'max_output_tokens'])(
    'a repeated %s is refused, and so is another spelling',
    async (name) => {
      const gateway = await watchedGateway()
      for (const other of [name, name.toUpperCase()]) {
        const response = await complete(gateway, `{"model":"m","${name}":1,"${other}":1}`)
        expect(await expectErrorShape(response)).toMatchObject({ code: 'LM-1001', param: name })
      }
    },
  )
})

describe('an answer', () => {
  test('the bytes of the upstream pass', async () => {
    const gateway = await watchedGateway()
    const answer =
      ' {"choices":[{"text":"é","index":0,"finish_reason":"length"}] ,"x":1e0,' +
      `"usage":${JSON.stringify(textUsage)}}\n`
    gateway.upstream.next(whole(answer))
    const response = await complete(gateway)
    expect(response.status).toBe(200)
    expectCommonHeaders(response)
    expect(response.headers.get('x-gateway-model-used')).toBe('m')
    expect(response.headers.get('x-gateway-provider')).toBe('p')
    expect(await response.text()).toBe(answer)
    expect(settlement(gateway.log)).toMatchObject({
      capability: 'chat',
      api: 'completions',
      model: 'm',
      tokens_in: 5,
      tokens_out: 2,
      estimated: false,
    })
  })

  test('missing usage is estimated from the prompts and all texts', async () => {
    const gateway = await watchedGateway()
    const choices = ['a'.repeat(8), 'b'.repeat(4)].map((text, index) => ({ index, text }))
    gateway.upstream.next(textAnswer('', { choices }))
    const prompt = ['x'.repeat(9), [1, 2, 3], 'x']
    const { usage } = (await (await complete(gateway, { prompt, suffix: 'abcd' })).json()) as {
      usage: object
    }
    // The prompts are 3, 3 and 1 tokens, and each has a suffix of 1.
    const estimate = { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 }
    expect(usage).toEqual({ ...estimate, estimated: true })
  })

  test.each([
    ['is not JSON', whole('text')],
    ['has no choices', json({ id: 'a' })],
  ])('an answer that %s is LM-3002', async (_, responder) => {
    const gateway = await watchedGateway(makeChain([{}], 'retry_max_attempts = 1'))
    gateway.upstream.next(responder)
    expect(await expectErrorShape(await complete(gateway))).toMatchObject({ code: 'LM-3002' })
  })

  test('an error of the upstream keeps its status and its own words', async () => {
    const gateway = await watchedGateway()
    const error = { message: 'This is a chat model', type: 'invalid_request_error', param: 'model' }
    gateway.upstream.next(json({ error }, { status: 404 }))
    const response = await complete(gateway)
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({
      error: { code: 'LM-3003', upstream: { status: 404, param: 'model' } },
    })
  })
})

describe('a link without the API', () => {
  const translated = { kind: 'anthropic' }

  test('a model whose whole chain lacks the API is LM-2002', async () => {
    const gateway = await watchedGateway(makeChain([translated, { kind: 'cohere' }]))
    const response = await complete(gateway)
    expect(response.status).toBe(400)
    expect(await expectErrorShape(response)).toMatchObject({
      code: 'LM-2002',
      param: 'model',
      message: 'model m does not have the text completions API; use POST /v1/chat/completions',
    })
    expect(gateway.upstream.requests).toEqual([])
  })

  test('a model without chat is LM-2002', async () => {
    const gateway = await watchedGateway(makeChain([{ model: 'capabilities = ["embed"]' }]))
    const error = await expectErrorShape(await complete(gateway))
    expect(error).toMatchObject({ code: 'LM-2002', param: 'model' })
  })

  test('a primary that lacks it is passed over, and the fallback serves', async () => {
    const gateway = await watchedGateway(makeChain([translated, {}]))
    gateway.upstream.next(textAnswer())
    const response = await complete(gateway)
    expect(response.headers.get('x-gateway-model-used')).toBe('m2')
    expect(await response.json()).toEqual(textCompletion())
    expect(called(gateway.upstream)).toEqual(['p2'])
  })

  test('a fallback that lacks it is passed over as unable to express the request', async () => {
    const chain = makeChain([{}, translated, {}], 'retry_max_attempts = 1')
    const gateway = await watchedGateway(chain)
    byProvider(gateway.upstream, { p: json({}, { status: 500 }), p3: json({}, { status: 500 }) })
    const response = await complete(gateway)
    expect(response.status).toBe(503)
    const error = await expectErrorShape(response)
    expect(error).toMatchObject({ code: 'LM-3004' })
    expect(error.message).toContain(
      'm2 (0 attempts): cannot express the request: model m2 does not',
    )
    expect(called(gateway.upstream)).toEqual(['p', 'p3'])
  })
})
