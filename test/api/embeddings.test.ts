import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { expectCommonHeaders, expectErrorShape } from '../support/contract.ts'
import { embed, readOkBody, texts, twoLinks, vectors } from '../support/embed.ts'
import type { TestGateway } from '../support/gateway.ts'
import { json, whole } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const config = `
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
[[providers.models]]
id = "m"
upstream_id = "upstream-m"
capabilities = ["embed"]
[[providers.models]]
id = "talker"
`

function client({ gateway }: TestGateway): OpenAI {
  return new OpenAI({
    baseURL: 'http://gateway.test/v1',
    apiKey: 'any',
    maxRetries: 0,
    fetch: (url, init) => gateway.fetch(new Request(url, init as RequestInit)),
  })
}

describe('the official openai package', () => {
  test('the SDK gets numbers from the base64 that it requests by default', async () => {
    const gateway = await watchedGateway(config)
    gateway.upstream.next(vectors([[0.1, -2.5e-3, 3]], 4))
    const answer = await client(gateway).embeddings.create({ model: 'm', input: 'a fox' })
    expect(answer.data[0]?.embedding).toEqual([0.1, -2.5e-3, 3].map(Math.fround))
    expect(answer.usage).toEqual({ prompt_tokens: 4, total_tokens: 4 })
    expect(gateway.upstream.body()).toEqual({ model: 'upstream-m', input: 'a fox' })
  })

  test('the SDK gets floats as the upstream wrote them, in the dimensions that it requests', async () => {
    const gateway = await watchedGateway(config)
    gateway.upstream.next(vectors([[0.1, 0.2]], 4))
    const answer = await client(gateway).embeddings.create({
      model: 'm',
      input: ['a fox'],
      encoding_format: 'float',
      dimensions: 2,
    })
    expect(answer.data[0]?.embedding).toEqual([0.1, 0.2])
    expect(gateway.upstream.body()).toMatchObject({ input: ['a fox'], dimensions: 2 })
  })

  test('the SDK throws the right exception for an invalid request', async () => {
    const gateway = await watchedGateway(config)
    const call = client(gateway).embeddings.create({ model: 'm', input: [] })
    const error = await call.catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(OpenAI.BadRequestError)
    expect(error).toMatchObject({ code: 'LM-1001', param: 'input' })
  })
})

test('floats keep every digit that the upstream wrote', async () => {
  const gateway = await watchedGateway(config)
  const numbers = '0.10000000000000000555, -1E-7,0.50'
  gateway.upstream.next(whole(`{"data":[{"embedding":[${numbers}]}],"usage":{"prompt_tokens":1}}`))
  const response = await embed(gateway, { input: 'x' })
  expect(await response.text()).toBe(
    `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[${numbers}]}],` +
      '"model":"m","usage":{"prompt_tokens":1,"total_tokens":1}}',
  )
})

test('an answer names the link that served and has the common headers', async () => {
  const gateway = await watchedGateway(config)
  gateway.upstream.next(vectors([[1]], 1))
  const response = await embed(gateway, { input: 'x' })
  expectCommonHeaders(response)
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(response.headers.get('x-gateway-model-used')).toBe('m')
  expect(response.headers.get('x-gateway-provider')).toBe('p')
})

test('the log and the metrics record the capability embed and the API embeddings', async () => {
  const gateway = await watchedGateway(config)
  gateway.upstream.next(vectors([[1]], 7))
  await embed(gateway, { input: 'x' })
  expect(gateway.log.find(({ message }) => message === 'request')?.fields).toMatchObject({
    capability: 'embed',
    api: 'embeddings',
    model_used: 'm',
    status: 200,
    attempts: 1,
    tokens_in: 7,
    tokens_out: 0,
    estimated: false,
  })
  const metrics = await (await gateway.get('/metrics')).text()
  expect(metrics).toContain(
    'gateway_request_duration_seconds_count{capability="embed",api="embeddings",model="m",provider="p",status="200"} 1',
  )
  expect(metrics).toMatch(/gateway_tokens_total\{.*capability="embed".*direction="input".*\} 7/)
})

test('only known fields are sent upstream', async () => {
  const gateway = await watchedGateway(config)
  gateway.upstream.next(vectors([[1]], 1))
  const fields = { user: 'u', input_type: 'passage', truncate: 'END', encoding_format: 'base64' }
  await embed(gateway, { input: ['x'], dimensions: 8, ...fields })
  expect(gateway.upstream.body()).toEqual({ model: 'upstream-m', input: ['x'], dimensions: 8 })
})

test('null counts as absent', async () => {
  const gateway = await watchedGateway(config)
  gateway.upstream.next(vectors([[1]], 1))
  const nothing = { encoding_format: null, dimensions: null, input_type: null }
  const response = await embed(gateway, { input: ['x'], ...nothing })
  expect((await readOkBody(response)).data[0]?.embedding).toEqual([1])
  expect(gateway.upstream.body()).toEqual({ model: 'upstream-m', input: ['x'] })
})

test.each([
  ['a text', 'abc'],
  ['texts', ['abc', 'd']],
  ['token ids', [1, 2, 3]],
  ['lists of token ids', [[1, 2], [3]]],
])('%s are sent upstream unchanged', async (_, input) => {
  const gateway = await watchedGateway(config)
  const items = typeof input === 'string' || typeof input[0] === 'number' ? 1 : input.length
  gateway.upstream.next(vectors(Array.from({ length: items }, () => [1])))
  const response = await embed(gateway, { input })
  expect((await readOkBody(response)).data).toHaveLength(items)
  expect(gateway.upstream.body()).toEqual({ model: 'upstream-m', input })
})

describe('invalid requests are refused before any upstream call', () => {
  const image = { type: 'image_url', image_url: 'data:image/png;base64,aa==' }
  test.each([
    ['no input', {}, 'input'],
    ['a number', { input: 5 }, 'input'],
    ['an object', { input: { text: 'x' } }, 'input'],
    ['nothing', { input: [] }, 'input'],
    ['an empty string', { input: '' }, 'input'],
    ['an empty string among others', { input: ['x', ''] }, 'input.1'],
    ['an empty list', { input: ['x', []] }, 'input.1'],
    ['empty token ids', { input: [[1], []] }, 'input.1'],
    ['null among texts', { input: ['x', null] }, 'input.1'],
    ['an id among texts', { input: ['x', 1] }, 'input.1'],
    ['a text among ids', { input: [1, 'x'] }, 'input.1'],
    ['a text among lists of ids', { input: [[1], 'x'] }, 'input.1'],
    ['a fraction', { input: [1.5] }, 'input.0'],
    ['a negative id', { input: [[-1]] }, 'input.0.0'],
    ['a huge id', { input: [2 ** 31] }, 'input.0'],
    ['a part outside an item', { input: [image] }, 'input.0'],
    ['a part of an unknown type', { input: [[{ type: 'audio' }]] }, 'input.0.0.type'],
    ['a part without its text', { input: [[{ type: 'text' }]] }, 'input.0.0.text'],
    ['too many items', { input: texts(16_385) }, 'input'],
    ['an unknown encoding', { input: 'x', encoding_format: 'int8' }, 'encoding_format'],
    ['zero dimensions', { input: 'x', dimensions: 0 }, 'dimensions'],
    ['half a dimension', { input: 'x', dimensions: 1.5 }, 'dimensions'],
    ['dimensions as text', { input: 'x', dimensions: '256' }, 'dimensions'],
    ['a model that is not a string', { model: 5, input: 'x' }, 'model'],
  ])('%s', async (_, fields, param) => {
    const gateway = await watchedGateway(config)
    const response = await embed(gateway, fields)
    expect(response.status).toBe(400)
    expect(await expectErrorShape(response)).toMatchObject({ code: 'LM-1001', param })
    expect(gateway.upstream.requests).toEqual([])
  })

  test('token ids for a vendor without them: the message says how to make LangChain send text', async () => {
    const gateway = await watchedGateway(twoLinks)
    const error = await expectErrorShape(await embed(gateway, { input: [1, 2] }))
    expect(error).toMatchObject({
      code: 'LM-1001',
      message:
        "provider 'first' (cohere) does not accept pre-tokenized input (array of integers): " +
        'send text; in LangChain, set check_embedding_ctx_length=False',
    })
    expect(gateway.upstream.requests).toEqual([])
  })

  test.each([
    ['an unknown model', 'unknown-model', 404, 'LM-2001'],
    ['a model that does not embed', 'talker', 400, 'LM-2002'],
  ])('%s', async (_, model, status, code) => {
    const gateway = await watchedGateway(config)
    const response = await embed(gateway, { model, input: 'x' })
    expect(response.status).toBe(status)
    expect(await expectErrorShape(response)).toMatchObject({ code, param: 'model' })
  })
})

describe('an upstream that does not count gets an estimate', () => {
  test.each([
    ['texts by their bytes', ['four', 'fourfour', 'é'], 1 + 2 + 1],
    ['token ids by their count', [[1, 2, 3], [4]], 4],
    ['one list of token ids', [7, 8, 9], 3],
  ])('%s', async (_, input, tokens) => {
    const gateway = await watchedGateway(config)
    const items = typeof input[0] === 'number' ? 1 : input.length
    gateway.upstream.next(vectors(Array.from({ length: items }, () => [1])))
    const { usage } = await readOkBody(await embed(gateway, { input }))
    expect(usage).toEqual({ prompt_tokens: tokens, total_tokens: tokens, estimated: true })
  })

  test.each([0, -1, 1.5, '3', null])('a count of %j is ignored', async (count) => {
    const gateway = await watchedGateway(config)
    gateway.upstream.next(json({ data: [{ embedding: [1] }], usage: { prompt_tokens: count } }))
    const { usage } = await readOkBody(await embed(gateway, { input: 'four' }))
    expect(usage).toMatchObject({ prompt_tokens: 1, estimated: true })
  })
})

test('the demo kind embeds without a network, and similar texts get similar vectors', async () => {
  const demo = '[[providers]]\nname = "demo"\nkind = "demo"\n[[providers.models]]\nid = "m"\n'
  const gateway = await watchedGateway(`${demo}capabilities = ["embed"]\n`)
  const input = ['the red fox', 'a fox so red', 'tax law']
  const first = await readOkBody(await embed(gateway, { input, dimensions: 64 }))
  const again = await readOkBody(await embed(gateway, { input, dimensions: 64 }))
  expect(again).toEqual(first)
  const [fox, redFox, law] = first.data.map(({ embedding }) => embedding)
  expect(fox).toHaveLength(64)
  expect(cosine(fox, redFox)).toBeGreaterThan(cosine(fox, law) + 0.2)
})

function cosine(a: readonly number[] = [], b: readonly number[] = []): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)
}
