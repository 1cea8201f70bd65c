import { describe, expect, test } from 'vitest'
import { completion, hello, role, wholeStream } from '../support/answers.ts'
import { expectErrorShape } from '../support/contract.ts'
import { vectors } from '../support/embed.ts'
import type { TestGateway } from '../support/gateway.ts'
import { keyedGateway, pricedProvider } from '../support/keyed-gateway.ts'
import { otters, rerankConfig, scores } from '../support/rerank.ts'
import { json, stream } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

/** Models with these ids, each with its own upstream id. */
const ids = [
  'm',
  'org/name',
  'a/chat/completions',
  'modèle',
  'with space',
  '50%',
  'gpt-4.1',
] as const

const config = `
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
models = [
${ids.map((id, at) => `{ id = ${JSON.stringify(id)}, upstream_id = "upstream-${at}", capabilities = ["chat", "embed"] },`).join('\n')}
]
`

const messages = [{ role: 'user', content: 'Hi' }]

const post = ({ get }: TestGateway, path: string, body: unknown) =>
  get(path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) })

const chatPath = (model: string) => `/openai/deployments/${model}/chat/completions`
const embeddingsPath = (model: string) => `/openai/deployments/${model}/embeddings`

describe('the paths of Azure’s clients', () => {
  test.each([
    ['m', 'm'],
    ['org%2Fname', 'org/name'],
    ['org/name', 'org/name'],
    ['a%2Fchat%2Fcompletions', 'a/chat/completions'],
    ['a/chat/completions', 'a/chat/completions'],
    [encodeURIComponent('modèle'), 'modèle'],
    ['with%20space', 'with space'],
    ['50%25', '50%'],
    ['50%', '50%'],
    ['gpt-4.1', 'gpt-4.1'],
  ] as const)('the path names the model: %s', async (segment, id) => {
    const gateway = await watchedGateway(config)
    gateway.upstream.next(json(completion()), vectors([[1]], 1))
    const chat = await post(gateway, chatPath(segment), { messages })
    const embedding = await post(gateway, embeddingsPath(segment), { input: 'x' })
    const upstreamId = `upstream-${ids.indexOf(id)}`
    for (const [at, response] of [chat, embedding].entries()) {
      expect(response.status).toBe(200)
      expect(response.headers.get('x-gateway-provider')).toBe('p')
      await response.text()
      expect(gateway.upstream.body(at)).toMatchObject({ model: upstreamId })
    }
    const requests = gateway.log.filter(({ message }) => message === 'request')
    expect(requests.map(({ fields }) => [fields['api'], fields['model']])).toEqual([
      ['chat', id],
      ['embeddings', id],
    ])
  })

  const hi = '"messages":[{"role":"user","content":"Hi"}]'

  test.each([
    ['added', `{ ${hi} , "seed":1e0 }\n`, `{ ${hi} , "seed":1e0 ,"model":"upstream-0"}\n`],
    ['put in place of another', `{"model" : "gpt" ,${hi}}`, `{"model" : "upstream-0" ,${hi}}`],
    [
      'put in place of null',
      `{${hi},"model":null,"x":[ ]}`,
      `{${hi},"model":"upstream-0","x":[ ]}`,
    ],
    [
      'put under an escaped key',
      `{"\\u006dodel":"\\"",${hi}}`,
      `{"\\u006dodel":"upstream-0",${hi}}`,
    ],
  ])('the model is %s in the body, and all other bytes stay', async (_, body, sent) => {
    const gateway = await watchedGateway(config)
    gateway.upstream.next(json(completion()))
    expect((await post(gateway, chatPath('m'), body)).status).toBe(200)
    expect(gateway.upstream.text()).toBe(sent)
  })

  test('an empty body object gets the model, and lacks the rest', async () => {
    const gateway = await watchedGateway(config)
    const error = await expectErrorShape(await post(gateway, chatPath('m'), '{ }'))
    expect(error).toMatchObject({ code: 'LM-1001', param: 'messages' })
  })

  test('the query is ignored', async () => {
    const gateway = await watchedGateway(config)
    gateway.upstream.next(json(completion()), stream([wholeStream]))
    for (const path of [`${chatPath('m')}?api-version=2024-10-21`, `${chatPath('m')}/?a=/b`]) {
      const response = await post(gateway, path, { messages, stream: path.endsWith('b') })
      expect(response.status).toBe(200)
      await response.text()
    }
    expect(gateway.upstream.requests.every(({ url }) => !url.includes('?'))).toBe(true)
  })

  test('a stream is a stream of the usual form', async () => {
    const gateway = await watchedGateway(config)
    gateway.upstream.next(stream([role + hello]))
    const response = await post(gateway, chatPath('m'), { messages, stream: true })
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(await response.text()).toMatch(/"code":"LM-3010"/)
  })

  test.each([
    ['no body', '', 'the request body is empty; send a JSON object'],
    ['an array', '[]', 'the request body must be a JSON object'],
    ['a string', '"x"', 'the request body must be a JSON object'],
    ['text', 'model', 'the request body is not valid JSON'],
    ['an object without an end', '{"messages":[]', 'the request body is not valid JSON'],
    ['a comma at the end', '{"messages":[],}', 'the request body is not valid JSON'],
    ['a model without a value', '{"model":,"messages":[]}', 'the request body is not valid JSON'],
    [
      'a model of two values',
      '{"model":"a" "b","messages":[]}',
      'the request body is not valid JSON',
    ],
    [
      'a model that is a word',
      '{"model":none,"messages":[]}',
      'the request body is not valid JSON',
    ],
    ['a byte order mark', '\ufeff{"messages":[]}', 'the request body is not valid JSON'],
  ])('%s is refused as on other paths', async (_, body, message) => {
    const gateway = await watchedGateway(config)
    for (const path of [chatPath('m'), '/v1/chat/completions']) {
      const error = await expectErrorShape(await post(gateway, path, body))
      expect(error).toMatchObject({ code: 'LM-1001', message })
    }
  })

  test.each([
    ['a number', '{"model":5,"messages":[]}', 'model'],
    ['an object', '{"model":{"a":[]},"messages":[]}', 'model'],
    ['repeated', '{"model":"m","messages":[],"model":"m"}', 'model'],
    ['in another letter case', '{"Model":"m","messages":[]}', 'model'],
  ])('a model in the body that is %s is refused', async (_, body, param) => {
    const gateway = await watchedGateway(config)
    const error = await expectErrorShape(await post(gateway, chatPath('m'), body))
    expect(error).toMatchObject({ code: 'LM-1001', param })
  })

  test.each([
    ['an unknown model', chatPath('nobody'), 404, 'LM-2001'],
    ['an empty model', chatPath(''), 400, 'LM-1001'],
    ['another operation', '/openai/deployments/m/images/generations', 404, 'LM-1003'],
    ['no operation', '/openai/deployments/m', 404, 'LM-1003'],
  ])('%s is refused', async (_, path, status, code) => {
    const gateway = await watchedGateway(config)
    const response = await post(gateway, path, { model: 'm', messages })
    expect(response.status).toBe(status)
    expect(await expectErrorShape(response)).toMatchObject({ code })
  })

  test('GET is refused with the method that the path takes', async () => {
    const gateway = await watchedGateway(config)
    const response = await gateway.get(chatPath('m'))
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('POST')
  })

  test('a key is required, and may be in api-key', async () => {
    const gateway = await keyedGateway(pricedProvider)
    const { secret } = await gateway.key()
    gateway.upstream.next(json(completion()))
    const send = (headers: Record<string, string>) =>
      gateway.get(chatPath('m'), { method: 'POST', headers, body: JSON.stringify({ messages }) })
    const refused = await send({})
    expect(refused.status).toBe(401)
    expect(refused.headers.get('x-should-retry')).toBe('false')
    expect((await send({ 'api-key': secret })).status).toBe(200)
    expect(await gateway.rows()).toMatchObject([{ api: 'chat', model: 'm', status: 200 }])
  })
})

test('/v1/v2/rerank ranks documents, for Cohere’s clients with /v1 in their address', async () => {
  const gateway = await watchedGateway(rerankConfig({ kind: 'cohere' }))
  gateway.upstream.next(scores([[2, 0.9]]))
  const response = await post(gateway, '/v1/v2/rerank', { model: 'm', top_n: 1, ...otters })
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ results: [{ index: 2, relevance_score: 0.9 }] })
})

test.each([
  [
    '/v2/chat',
    '/v2/chat is not served; send requests in the OpenAI format to /v1/chat/completions',
  ],
  [
    '/v1/v2/chat',
    '/v2/chat is not served; send requests in the OpenAI format to /v1/chat/completions',
  ],
  ['/v2/embed', '/v2/embed is not served; send requests in the OpenAI format to /v1/embeddings'],
  ['/chat/completions', 'no such route; did you mean /v1/chat/completions?'],
  ['/v1/v1/embeddings', 'no such route; did you mean /v1/embeddings?'],
  ['/openai/v1/chat/completions', 'no such route; did you mean /v1/chat/completions?'],
  ['/openai/embeddings', 'no such route; did you mean /v1/embeddings?'],
])('the 404 of %s names the path that is served', async (path, message) => {
  const gateway = await watchedGateway(config)
  const response = await post(gateway, path, { model: 'm', messages })
  expect(response.status).toBe(404)
  expect(await expectErrorShape(response)).toMatchObject({ code: 'LM-1003', message })
})

test('a path that was found before is found again, with its own model', async () => {
  const gateway = await watchedGateway(config)
  gateway.upstream.always(json(completion()))
  const paths = ['m', 'org/name', 'org%2Fname', 'm', '50%25', 'org/name'].map(chatPath)
  for (const path of [...paths, ...paths]) {
    const response = await post(gateway, `${path}?api-version=${path.length}`, { messages })
    expect([path, response.status]).toEqual([path, 200])
  }
  const expected = [0, 1, 1, 0, 5, 1].map((at) => `upstream-${at}`)
  const sent = gateway.upstream.requests.map((_, at) => gateway.upstream.body(at))
  expect(sent.map((body) => (body as { readonly model: string }).model)).toEqual([
    ...expected,
    ...expected,
  ])
})

test('GET / lists every path', async () => {
  const { get } = await watchedGateway(config)
  expect(await (await get('/')).json()).toMatchObject({
    routes: expect.arrayContaining([
      'POST /v1/v2/rerank',
      'POST /openai/deployments/{model}/chat/completions',
      'POST /openai/deployments/{model}/embeddings',
    ]),
  })
})
