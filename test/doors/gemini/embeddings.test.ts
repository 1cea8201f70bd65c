import { describe, expect, test } from 'vitest'
import { keyedGateway } from '../../support/keyed-gateway.ts'
import { json, whole } from '../../support/scripted-upstream.ts'
import { geminiGateway, post } from './support.ts'

/** A gateway with a native link `gemini`, and links `e`, `c` and `v` that speak other APIs. */
const links = `
[resilience]
retry_max_attempts = 1
[[providers]]
name = "g"
kind = "google"
api_key_env = "P_KEY"
models = [{ id = "gemini", upstream_id = "gemini-embedding-001", capabilities = ["embed"], modalities = ["text", "image"] }]
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
models = [{ id = "e", upstream_id = "text-embedding-3-small", capabilities = ["embed"] }]
[[providers]]
name = "co"
kind = "cohere"
map_input_type = true
api_key_env = "P_KEY"
models = [{ id = "c", upstream_id = "embed-v4.0", capabilities = ["embed"], modalities = ["text", "image"] }]
[[providers]]
name = "x"
kind = "cohere"
api_key_env = "P_KEY"
models = [{ id = "unmapped", upstream_id = "embed-v4.0", capabilities = ["embed"], input_type = "document" }]
`

const address = 'https://generativelanguage.googleapis.com/v1beta/models/gemini-embedding-001'

function pathTo(method: string, model = 'e'): string {
  return `/v1beta/models/${model}:${method}`
}

function openAiVectors(...vectors: readonly (readonly number[])[]): object {
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }))
  return { object: 'list', data, model: 'x', usage: { prompt_tokens: 7, total_tokens: 7 } }
}

function cohereVectors(...float: readonly (readonly number[])[]): object {
  return { id: 'i', embeddings: { float }, meta: { billed_units: { input_tokens: 3 } } }
}

function content(...texts: readonly string[]): object {
  return { role: 'user', parts: texts.map((text) => ({ text })) }
}

describe('embeddings at a link that speaks the API itself', () => {
  test.each([
    [
      'batchEmbedContents',
      '{ "requests":[{"content":{"role":"user","parts":[{"text":"a"}]},"taskType":"RETRIEVAL_QUERY","title":"t","new": 1.0,"outputDimensionality":3,"model":"models/gemini"}, {"model":"gemini","content":{"parts":[{"text":"model"}]}}] }',
      '{ "embeddings" : [{"values":[0.10, 2e-3]},{"values":[1.0,-0.5]}], "unknown": 1.50 }',
    ],
    [
      'embedContent',
      '{ "model": "models/gemini", "content":{"parts":[{"text":"model"}]},"task_type":3 }',
      '{ "embedding": {"values":[0.10]}, "usageMetadata":{"promptTokenCount":4,"promptTokensDetails":[]} }',
    ],
  ])('pass byte for byte, but for the name of the model: %s', async (method, body, answer) => {
    const gateway = await geminiGateway(links)
    gateway.upstream.next(whole(answer))
    const response = await post(gateway, body, { path: `/v1/models/gemini:${method}?key=secret` })
    expect(await response.text()).toBe(answer)
    expect(gateway.upstream.requests[0]?.url).toBe(`${address}:${method}`)
    const named = body
      .replace('"model":"models/gemini"', '"model":"models/gemini-embedding-001"')
      .replace('"model": "models/gemini"', '"model": "models/gemini-embedding-001"')
      .replace('"model":"gemini"', '"model":"models/gemini-embedding-001"')
    expect(gateway.upstream.text()).toBe(named)
  })

  test('may have contents that no other API has', async () => {
    const gateway = await geminiGateway(links)
    gateway.upstream.next(json({ embedding: { values: [1] } }))
    const audio = { inlineData: { mimeType: 'audio/wav', data: 'AAAA' } }
    const file = { fileData: { fileUri: 'https://example.com/a.png', mimeType: 'image/png' } }
    const body = { content: { parts: [audio, file] } }
    const response = await post(gateway, body, { path: pathTo('embedContent', 'gemini') })
    expect(response.status).toBe(200)
    expect(gateway.upstream.body()).toEqual(body)
  })

  test.each([
    ['has another shape', '{"nothing":1}'],
    ['has one vector too few', '{"embeddings":[{"values":[1]}]}'],
    ['is not JSON', '{"embeddings":'],
  ])('whose answer %s fail', async (_, answer) => {
    const gateway = await geminiGateway(links)
    gateway.upstream.next(whole(answer))
    const requests = [{ content: content('a') }, { content: content('b') }]
    const response = await post(
      gateway,
      { requests },
      { path: pathTo('batchEmbedContents', 'gemini') },
    )
    expect([response.status, (await response.json()).error.status]).toEqual([502, 'UNAVAILABLE'])
  })

  test('have the members that the settings of the model give them', async () => {
    const set = 'id = "gemini", body = { set = { autoTruncate = true } },'
    const gateway = await geminiGateway(links.replace('id = "gemini",', set))
    gateway.upstream.next(json({ embedding: { values: [1] } }))
    await post(gateway, { content: content('a') }, { path: pathTo('embedContent', 'gemini') })
    expect(gateway.upstream.body()).toMatchObject({ autoTruncate: true })
  })

  test('go on to a link that is translated', async () => {
    const gateway = await geminiGateway(
      links.replace('id = "gemini",', 'id = "gemini", fallbacks = ["c"],'),
    )
    gateway.upstream.next(json({ error: { code: 500, message: 'no' } }, { status: 500 }))
    gateway.upstream.next(json(cohereVectors([1, 2])))
    const response = await post(
      gateway,
      { content: content('a') },
      { path: pathTo('embedContent', 'gemini') },
    )
    expect((await response.json()).embedding).toEqual({ values: [1, 2] })
    expect(gateway.upstream.requests).toHaveLength(2)
  })
})

describe('embeddings at a link that speaks another API', () => {
  test('have the vectors in order, and the counts', async () => {
    const gateway = await geminiGateway(links)
    gateway.upstream.next(json(openAiVectors([0.1, 0.2], [0.3, 0.4])))
    const requests = ['a', 'b'].map((text) => ({
      model: 'models/e',
      content: content(text),
      output_dimensionality: '2',
    }))
    const response = await post(gateway, { requests }, { path: pathTo('batchEmbedContents') })
    expect(await response.json()).toEqual({
      embeddings: [{ values: [0.1, 0.2] }, { values: [0.3, 0.4] }],
      usageMetadata: { promptTokenCount: 7 },
    })
    expect(gateway.upstream.body()).toEqual({
      model: 'text-embedding-3-small',
      input: ['a', 'b'],
      dimensions: 2,
    })
  })

  test('of one content are one vector, for all of its texts', async () => {
    const gateway = await geminiGateway(links)
    gateway.upstream.next(json(openAiVectors([0.1])))
    const response = await post(
      gateway,
      { content: content('a', 'b'), embedContentConfig: { outputDimensionality: 1 } },
      { path: '/v1beta1/projects/p/locations/l/publishers/google/models/e:embedContent' },
    )
    expect(await response.json()).toEqual({
      embedding: { values: [0.1] },
      usageMetadata: { promptTokenCount: 7 },
    })
    expect(gateway.upstream.body()).toMatchObject({ input: ['a b'], dimensions: 1 })
  })

  test('have one call for each set of equal settings, and the vectors in their places', async () => {
    const gateway = await geminiGateway(links)
    gateway.upstream.next(json(cohereVectors([1], [3])))
    gateway.upstream.next(json(cohereVectors([2, 2])))
    const requests = [
      { content: content('q1'), taskType: 'RETRIEVAL_QUERY' },
      { content: content('d'), taskType: 'RETRIEVAL_DOCUMENT', outputDimensionality: 512 },
      { content: content('q2'), taskType: 1 },
    ]
    const response = await post(gateway, { requests }, { path: pathTo('batchEmbedContents', 'c') })
    expect(await response.json()).toEqual({
      embeddings: [{ values: [1] }, { values: [2, 2] }, { values: [3] }],
      usageMetadata: { promptTokenCount: 6 },
    })
    const sent = gateway.upstream.requests.map((_, at) => gateway.upstream.body(at))
    expect(sent).toMatchObject([
      { texts: ['q1', 'q2'], input_type: 'search_query' },
      { texts: ['d'], input_type: 'search_document', output_dimension: 512 },
    ])
  })

  test.each([
    ['e', undefined],
    ['unmapped', 'search_document'],
  ])('of %s have the task type only where the provider maps it', async (model, sent) => {
    const gateway = await geminiGateway(links)
    gateway.upstream.next(json(model === 'e' ? openAiVectors([1]) : cohereVectors([1])))
    const body = { content: content('a'), taskType: 'RETRIEVAL_QUERY', title: 't' }
    const response = await post(gateway, body, { path: pathTo('embedContent', model) })
    expect(response.headers.get('x-gateway-dropped')).toBe('taskType,title')
    expect(gateway.upstream.body()).toHaveProperty('model')
    expect((gateway.upstream.body() as { input_type?: unknown }).input_type).toBe(sent)
  })

  test('take inline images where the model does', async () => {
    const gateway = await geminiGateway(links)
    gateway.upstream.next(json(cohereVectors([1])))
    const image = { inline_data: { mime_type: 'image/png', data: 'iVBO-w==' } }
    const response = await post(
      gateway,
      { content: { parts: [{ text: 'a' }, image] } },
      { path: pathTo('embedContent', 'c') },
    )
    expect(response.status).toBe(200)
    expect(gateway.upstream.text()).toContain('data:image/png;base64,iVBO+w==')
  })

  test.each([
    ['requests.0.model', { requests: [{ model: 'models/other', content: content('a') }] }],
    ['requests', { requests: [] }],
    ['requests', {}],
    ['requests.0.content', { requests: [{}] }],
    ['requests.0.content', { requests: [{ content: content('') }] }],
    ['requests.0.content.parts.0', { requests: [{ content: { parts: [{ fileData: {} }] } }] }],
    [
      'requests.0.outputDimensionality',
      { requests: [{ content: content('a'), outputDimensionality: -1 }] },
    ],
    [
      'requests.0.taskType',
      '{"requests":[{"content":{"parts":[{"text":"a"}]},"taskType":1,"task_type":1}]}',
    ],
    ['requests', '{"requests":[],"requests":[{"content":{"parts":[{"text":"a"}]}}]}'],
  ])('are refused for %s', async (param, body) => {
    const gateway = await geminiGateway(links)
    const response = await post(gateway, body, { path: pathTo('batchEmbedContents') })
    const { error } = await response.json()
    expect([response.status, error.details[0].metadata]).toMatchObject([
      400,
      { code: 'LM-1001', param },
    ])
    expect(gateway.upstream.requests).toHaveLength(0)
  })
})

test('a model for embeddings is listed with its methods', async () => {
  const gateway = await geminiGateway(links)
  const one = await (await gateway.get('/v1beta/models/e')).json()
  expect(one.supportedGenerationMethods).toEqual(['embedContent', 'batchEmbedContents'])
})

test('a model for chat serves no embeddings, and GET is not a method of them', async () => {
  const gateway = await geminiGateway(links.replace('["embed"]', '["chat"]'))
  const body = { content: content('a') }
  const refused = await post(gateway, body, { path: pathTo('embedContent', 'gemini') })
  expect([refused.status, (await refused.json()).error.details[0].reason]).toEqual([400, 'LM_2002'])
  expect((await gateway.get(pathTo('embedContent'))).status).toBe(405)
})

test('the row of a request has the API for embeddings, and its cost', async () => {
  const gateway = await keyedGateway(links.replace('id = "e",', 'id = "e", cost_per_1m_input = 1,'))
  const { headers } = await gateway.key()
  gateway.upstream.next(json(openAiVectors([1])))
  await post(gateway, { content: content('a') }, { path: pathTo('embedContent'), headers })
  expect(await gateway.rows()).toMatchObject([{ api: 'embeddings', tokensTotal: 7, status: 200 }])
})

test('the cache keeps the answers of the methods, the models and other APIs apart', async () => {
  const cached = links.replaceAll('capabilities =', 'cache = true, capabilities =')
  const gateway = await geminiGateway(`${cached}\n[cache]\nenabled = true\n`)
  const body = {
    model: 'e',
    input: 'a',
    content: content('a'),
    requests: { content: content('a') },
  }
  const ask = async (path: string) => {
    const response = await post(gateway, body, { path })
    return [response.headers.get('x-gateway-cache'), Object.keys(await response.json())[0]]
  }
  for (const [path, member] of [
    [pathTo('embedContent'), 'embedding'],
    [pathTo('batchEmbedContents'), 'embeddings'],
    ['/v1/embeddings', 'object'],
  ] as const) {
    gateway.upstream.next(json(openAiVectors([1])))
    expect(await ask(path)).toEqual(['miss', member])
    expect(await ask(path)).toEqual(['hit', member])
  }
})
