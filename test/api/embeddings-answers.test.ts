import { describe, expect, test } from 'vitest'
import { expectErrorShape } from '../support/contract.ts'
import { embed, readOkBody, vectors } from '../support/embed.ts'
import { afterRetries } from '../support/embed-kinds.ts'
import { providerKey } from '../support/gateway.ts'
import { json, type Responder, stream, whole } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const config = `
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
[[providers.models]]
id = "m"
capabilities = ["embed"]
`

function indexed(...entries: [index: number, embedding: number[]][]): Responder {
  return json({ data: entries.map(([index, embedding]) => ({ index, embedding })) })
}

describe('a 2xx that breaks the API’s contract is retried, and then LM-3002', () => {
  test.each<[string, Responder]>([
    ['text that is not JSON', whole('<html>')],
    ['nothing', whole('')],
    ['JSON that breaks off', whole('{"data":[{"embedding":[1,2')],
    ['no data', json({ object: 'list' })],
    ['data that is not an array', json({ data: 'none' })],
    ['one vector too few', vectors([[1]])],
    ['one vector too many', vectors([[1], [2], [3]])],
    ['an empty vector', vectors([[], []])],
    ['vectors of different lengths', vectors([[1], [1, 2]])],
    ['a vector with a hole', whole('{"data":[{"embedding":[1,null]},{"embedding":[1,2]}]}')],
    ['NaN', whole('{"data":[{"embedding":[1,NaN]},{"embedding":[1,2]}]}')],
    ['a number too large', whole('{"data":[{"embedding":[1,1e999]},{"embedding":[1,2]}]}')],
    ['an index twice', indexed([0, [1]], [0, [2]])],
    ['an index out of range', indexed([0, [1]], [2, [2]])],
    [
      'vectors of vectors',
      vectors([
        [[1], [2]],
        [[1], [2]],
      ]),
    ],
    ['base64 that is not a sequence of floats', vectors(['AAAA', 'AAAA'])],
    ['an error in a 200', json({ error: { message: 'out of order' } })],
  ])('%s', async (_, responder) => {
    for (const encoding_format of ['float', 'base64']) {
      const gateway = await watchedGateway(config)
      gateway.upstream.always(responder)
      const answer = embed(gateway, { input: ['x', 'y'], encoding_format })
      const response = await afterRetries(gateway, answer)
      expect(response.status).toBe(502)
      expect(await expectErrorShape(response)).toMatchObject({ code: 'LM-3002' })
      expect(gateway.upstream.requests).toHaveLength(3)
    }
  })
})

test('an answer may arrive in chunks of any size', async () => {
  const body = JSON.stringify({
    data: [
      { index: 1, embedding: [0.25, -1.5e-3] },
      { index: 0, embedding: [100, 0] },
    ],
    usage: { prompt_tokens: 3 },
  })
  const bytes = [...new TextEncoder().encode(body)].map((byte) => Uint8Array.of(byte))
  const gateway = await watchedGateway(config)
  gateway.upstream.always(stream(bytes, { headers: { 'content-type': 'application/json' } }))
  const floats = await readOkBody(await embed(gateway, { input: ['x', 'y'] }))
  expect(floats.data.map(({ embedding }) => embedding)).toEqual([
    [100, 0],
    [0.25, -1.5e-3],
  ])
})

test.each([
  ['float', 40],
  ['base64', 100],
] as const)(
  'a long answer in %s is generated while it is sent, and declares its length',
  async (encoding, items) => {
    const gateway = await watchedGateway(config)
    const list = Array.from({ length: items }, (_, item) =>
      Array.from({ length: 1536 }, (__, place) => Math.fround((item + 1) / (place + 7))),
    )
    gateway.upstream.next(vectors(list, 1))
    const input = list.map(() => 'text')
    const response = await embed(gateway, { input, encoding_format: encoding })
    const pieces: Uint8Array[] = []
    for await (const piece of response.clone().body ?? []) pieces.push(piece)
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
    expect(response.headers.get('content-length')).toBe(String(length))
    expect(pieces.length).toBeGreaterThan(1)
    const { data } = await readOkBody(response)
    const found = data.map(({ embedding }) =>
      typeof embedding === 'string' ? [...floatsIn(embedding)] : embedding,
    )
    expect(found).toEqual(list)
  },
)

function floatsIn(base64: string): Float32Array {
  return new Float32Array(Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0)).buffer)
}

test('base64 vectors are decoded', async () => {
  const gateway = await watchedGateway(config)
  gateway.upstream.always(vectors(['AAAAPwAAgL4=', 'zczMPc3MTD4='], 2))
  const floats = await readOkBody(await embed(gateway, { input: ['x', 'y'] }))
  expect(floats.data.map(({ embedding }) => embedding)).toEqual([
    [0.5, -0.25],
    [0.1, 0.2].map(Math.fround),
  ])
  const coded = await readOkBody(
    await embed(gateway, { input: ['x', 'y'], encoding_format: 'base64' }),
  )
  expect(coded.data[1]?.embedding).toBe('zczMPc3MTD4=')
})

test('perplexity’s byte vectors are refused as floats', async () => {
  const gateway = await watchedGateway(
    config.replace('"openai"', '"perplexity"\nbase_url = "http://p.test"'),
  )
  gateway.upstream.always(vectors(['AAAAPwAAgL4=']))
  const response = await afterRetries(gateway, embed(gateway, { input: 'x' }))
  expect(await expectErrorShape(response)).toMatchObject({ code: 'LM-3002' })
})

test('a client error keeps its status, without the credential in its text', async () => {
  const gateway = await watchedGateway(config)
  gateway.upstream.next(json({ error: { message: `bad ${providerKey}` } }, { status: 422 }))
  const response = await embed(gateway, { input: 'x' })
  expect(response.status).toBe(422)
  const error = await expectErrorShape(response)
  expect(error.code).toBe('LM-3003')
  expect(error.message).not.toContain(providerKey)
})

test('tei: a failed backend is retried, one that cannot embed is not', async () => {
  const gateway = await watchedGateway(
    '[[providers]]\nname = "p"\nkind = "tei"\nbase_url = "http://tei.test"\n' +
      '[[providers.models]]\nid = "m"\ncapabilities = ["embed"]\n',
  )
  const backend = { error: 'out of memory', error_type: 'Backend' }
  gateway.upstream.next(json(backend, { status: 424 }), json([[1]]))
  const response = await afterRetries(gateway, embed(gateway, { input: 'x' }))
  expect(response.status).toBe(200)
  const other = { error: 'model is not an embedding model', error_type: 'Backend' }
  gateway.upstream.next(json(other, { status: 424 }))
  const refused = await embed(gateway, { input: 'x' })
  expect(refused.status).toBe(424)
  expect(gateway.upstream.requests).toHaveLength(3)
})

describe('vectors per token, as chat models return them', () => {
  const byToken = [
    [0.1, 0.2],
    [0.3, 0.4],
  ]

  test.each<[string, string, Responder]>([
    ['openai', '/v1', vectors([byToken])],
    ['ollama', '', json({ embeddings: [byToken] })],
    ['tei', '', json([byToken])],
  ])('vectors per token are named in the error: %s', async (kind, path, responder) => {
    const gateway = await watchedGateway(
      config.replace('"openai"', `"${kind}"\nbase_url = "http://p.test${path}"`),
    )
    gateway.upstream.always(responder)
    const response = await afterRetries(gateway, embed(gateway, { input: 'x' }))
    expect(await expectErrorShape(response)).toMatchObject({
      code: 'LM-3002',
      message:
        'provider p sent a malformed answer: the answer has a vector for each token, not for each item; use an embedding model',
    })
  })
})
