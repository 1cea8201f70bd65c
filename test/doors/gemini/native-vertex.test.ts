import { describe, expect, test } from 'vitest'
import { json, stream } from '../../support/scripted-upstream.ts'
import { asking, geminiGateway, post } from './support.ts'

const host = 'https://us-central1-aiplatform.googleapis.com'
const place = '/v1/projects/my-proj/locations/us-central1'

function vertexConfig(upstreamId: string, baseUrl = host + place): string {
  return `
[resilience]
retry_max_attempts = 1
[[providers]]
name = "v"
kind = "vertex_ai"
api_key_env = "P_KEY"
base_url = "${baseUrl}"
models = [{ id = "vertex", upstream_id = "${upstreamId}", modalities = ["text", "image"] }]
`
}

const answer = {
  candidates: [{ content: { parts: [{ text: 'Hi' }], role: 'model' }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 },
}

function vertexGateway(upstreamId = 'gemini-3.5-pro') {
  return geminiGateway(vertexConfig(upstreamId), { env: { P_KEY: 'ya29.test' } })
}

const path = '/v1beta/models/vertex:generateContent'

describe('a link to Vertex AI', () => {
  test('gets the bytes of the client, at the address of the project', async () => {
    const gateway = await vertexGateway()
    gateway.upstream.next(json(answer))
    const body =
      '{ "contents":[{"role":"user","parts":[{"text":"role"}]}, {"parts":[{"functionCall":{"id":"c1","name":"f","args":{"n":1.0}}}],"role":"model"}], "labels":{"a":"b"}, "new_field": 1.00 }'
    const response = await post(gateway, body, {
      path: '/v1beta1/projects/other/locations/global/publishers/google/models/vertex:generateContent',
    })
    expect(await response.json()).toEqual(answer)
    const [sent] = gateway.upstream.requests
    expect(sent?.url).toBe(
      `${host}${place}/publishers/google/models/gemini-3.5-pro:generateContent`,
    )
    expect(sent?.headers['authorization']).toBe('Bearer ya29.test')
    expect(gateway.upstream.text()).toBe(body)
  })

  test('streams the bytes of its events', async () => {
    const gateway = await vertexGateway()
    const events = [
      'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hel"}]}}],"usageMetadata":{"trafficType":"ON_DEMAND"}}\r\n\r\n',
      `data: ${JSON.stringify(answer)}\r\n\r\n`,
    ]
    gateway.upstream.next(stream(events))
    const response = await post(gateway, asking(), {
      path: '/v1/models/vertex:streamGenerateContent?alt=sse',
    })
    expect(await response.text()).toBe(events.join(''))
    expect(gateway.upstream.requests[0]?.url).toMatch(/:streamGenerateContent\?alt=sse$/)
  })

  test.each([
    ['no role', '[{"parts":[{"text":"a"}]}]', '[{"role":"user","parts":[{"text":"a"}]}]'],
    ['nothing', '[{ }]', '[{"role":"user" }]'],
    [
      'the role of old clients',
      '[{"parts":[],"role": "function"}]',
      '[{"parts":[],"role": "user"}]',
    ],
    ['a role that is null', '[{"role":null,"parts":[]}]', '[{"role":"user","parts":[]}]'],
    ['no list around it', '{"parts":[{"text":"a"}]}', '{"role":"user","parts":[{"text":"a"}]}'],
    [
      'a neighbour with a role',
      '[{"role":"model","parts":[{"text":"\\"role\\""}]}, {"parts":[]}]',
      '[{"role":"model","parts":[{"text":"\\"role\\""}]}, {"role":"user","parts":[]}]',
    ],
  ])('gets the role of the user for a content with %s', async (_, given, sent) => {
    const gateway = await vertexGateway()
    gateway.upstream.next(json(answer))
    await post(gateway, `{"contents": ${given}, "n": 1.0}`, { path })
    expect(gateway.upstream.text()).toBe(`{"contents": ${sent}, "n": 1.0}`)
  })

  test('gets no member of the other service, and no model', async () => {
    const gateway = await vertexGateway()
    gateway.upstream.next(json(answer))
    const rest = '"contents":[{"role":"user","parts":[{"text":"serviceTier"}]}],"labels":{}'
    const body = `{"model":"models/vertex","serviceTier":"flex",${rest},"store":false}`
    await post(gateway, body, { path })
    expect(gateway.upstream.text()).toBe(`{${rest}}`)
  })

  test.each([
    ['gemini-2.5-flash', false],
    ['gemini-3.5-pro', true],
  ])('of %s gets ids of calls where the model knows them', async (upstreamId, keepsIds) => {
    const gateway = await vertexGateway(upstreamId)
    gateway.upstream.next(json(answer))
    const id = (text: string) => `"id":"${text}",`
    const write = (first: string, second: string) =>
      `{"contents":[{"role":"model","parts":[{"functionCall":{${first}"name":"f","args":{"id":"mine"}}}]},{"role":"user","parts":[{"function_response":{${second}"name":"f","response":{"id":1.0}}}]}]}`
    await post(gateway, write(id('c1'), id('c1')), { path })
    expect(gateway.upstream.text()).toBe(keepsIds ? write(id('c1'), id('c1')) : write('', ''))
  })

  test.each([
    [
      'old clients',
      '{"generateContentRequest":{"model":"models/vertex","contents":[{"parts":[{"text":"a"}]}],"tools":[],"toolConfig":{}}}',
      '{"contents":[{"role":"user","parts":[{"text":"a"}]}],"tools":[]}',
    ],
    [
      'its own clients',
      '{"contents":[{"role":"user","parts":[{"text":"a"}]}],"systemInstruction":{"parts":[]}}',
      '{"contents":[{"role":"user","parts":[{"text":"a"}]}],"systemInstruction":{"parts":[]}}',
    ],
  ])('counts the requests of %s', async (_, given, sent) => {
    const gateway = await vertexGateway()
    gateway.upstream.next(json({ totalTokens: 3, totalBillableCharacters: 2 }))
    const response = await post(gateway, given, { path: '/v1beta/models/vertex:countTokens' })
    expect(await response.json()).toEqual({ totalTokens: 3, totalBillableCharacters: 2 })
    expect(gateway.upstream.text()).toBe(sent)
  })

  test('whose project is unknown fails as for other APIs', async () => {
    const gateway = await geminiGateway(vertexConfig('gemini-3.5-pro', host), {
      env: { P_KEY: 'ya29.test' },
    })
    const response = await post(gateway, asking(), { path })
    expect([response.status, (await response.json()).error.message]).toEqual([
      502,
      expect.stringContaining('project is unknown'),
    ])
    const count = await post(gateway, asking(), { path: '/v1beta/models/vertex:countTokens' })
    expect(await count.json()).toMatchObject({ estimated: true })
  })
})

describe('a link to the Gemini API', () => {
  test('gets no labels', async () => {
    const gateway = await geminiGateway()
    gateway.upstream.next(json(answer))
    const rest = '"contents":[{"parts":[{"text":"labels"}]}],"serviceTier":"flex"'
    await post(gateway, `{"labels":{"a":"b"},${rest}}`, {
      path: '/v1beta/models/gemini:generateContent',
    })
    expect(gateway.upstream.text()).toBe(`{${rest}}`)
  })

  test('counts what clients of Vertex AI count', async () => {
    const gateway = await geminiGateway()
    gateway.upstream.next(json({ totalTokens: 3 }))
    const body = '{"contents":[{"parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[]}]}'
    await post(gateway, body, { path: '/v1beta/models/gemini:countTokens' })
    expect(gateway.upstream.text()).toBe(
      `{"generateContentRequest":${body.slice(0, -1)},"model":"models/gemini-3.5-pro"}}`,
    )
  })
})
