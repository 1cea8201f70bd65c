import { describe, expect, test } from 'vitest'
import { completion } from '../../support/answers.ts'
import { keyedGateway } from '../../support/keyed-gateway.ts'
import { json, stream } from '../../support/scripted-upstream.ts'
import { asking, geminiGateway, links, listParts, parseChunks, post, streaming } from './support.ts'

describe('the addresses of the clients', () => {
  test.each([
    '/v1beta/models/m:generateContent',
    '/v1/models/m:generateContent',
    '/v1alpha/models/m:generateContent',
    '/v1beta1/publishers/google/models/m:generateContent',
    '/v1beta1/projects/p/locations/us-central1/publishers/google/models/m:generateContent',
    '/v1/projects/p/locations/global/publishers/anthropic/models/m:generateContent',
    '/v1beta/tunedModels/m:generateContent',
  ])('%s', async (path) => {
    const tuned = path.includes('tuned') ? links.replace('id = "m"', 'id = "tunedModels/m"') : links
    const gateway = await geminiGateway(tuned)
    gateway.upstream.next(json(completion('Hello')))
    const response = await post(gateway, asking(), { path })
    expect([response.status, listParts(await response.json())]).toEqual([200, [{ text: 'Hello' }]])
  })

  test.each(['openai/gpt-x', 'llama:8b', 'a%2Fb', 'models/x:generateContent'])(
    'have the id %s as it is',
    async (id) => {
      const known = decodeURIComponent(id)
      const gateway = await geminiGateway(links.replace('id = "m"', `id = "${known}"`))
      gateway.upstream.next(json(completion()))
      const response = await post(gateway, asking(), {
        path: `/v1beta/models/${id}:generateContent`,
      })
      expect((await response.json()).modelVersion).toBe(known)
    },
  )

  test.each([
    ['POST', '/v1beta/models/none:generateContent', 404, 'LM-2001', 'NOT_FOUND'],
    ['GET', '/v1beta/models/m:generateContent', 405, 'LM-1003', 'UNIMPLEMENTED'],
    ['GET', '/v1beta/models/none', 404, 'LM-2001', 'NOT_FOUND'],
    ['POST', '/v1beta/models/m:generateContent', 400, 'LM-1001', 'INVALID_ARGUMENT'],
  ])('%s %s is %d %s in the form of the API', async (method, path, status, code, word) => {
    const gateway = await geminiGateway()
    const isBad = status === 400
    const response = await gateway.get(path, {
      method,
      headers: { 'x-request-id': 'r1' },
      ...(method === 'POST' && { body: isBad ? '{}' : JSON.stringify(asking()) }),
    })
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({
      error: {
        code: status,
        status: word,
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
            reason: code.replace('-', '_'),
            domain: 'model-gateway',
            metadata: { code, request_id: 'r1' },
          },
        ],
      },
    })
  })
})

describe('another part of the API', () => {
  test.each([
    ['POST', '/v1beta/interactions'],
    ['GET', '/v1beta/interactions/i1'],
    ['POST', '/v1beta/interactions/i1/cancel'],
    ['POST', '/v1beta1/cachedContents'],
    ['POST', '/upload/v1beta/files'],
    ['GET', '/v1beta/files/f1'],
    ['POST', '/v1beta/models/m:batchGenerateContent'],
    ['POST', '/v1beta1/publishers/google/models/m:predictLongRunning'],
    ['POST', '/v1/models/m:predict'],
    ['POST', '/v1/models/openai/gpt-x:predict?key=k'],
    ['POST', '/v1/projects/p/locations/l/publishers/google/models/m:predict'],
    ['GET', '/v1beta1/projects/p/locations/l/cachedContents/c'],
    ['POST', '/v1/publishers/google/models/m:rawPredict'],
    ['POST', '/v1beta/tunedModels/m:transferOwnership'],
    ['GET', '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent'],
  ])('is absent, which the answer says: %s %s', async (method, path) => {
    const gateway = await geminiGateway()
    const response = await gateway.get(path, { method })
    const { error } = await response.json()
    expect([response.status, error.status]).toEqual([404, 'NOT_FOUND'])
    expect(error.message).toContain(':generateContent, :streamGenerateContent')
  })

  test.each([
    ['a POST without a method', 'POST', '/v1/models/m', 404, 'NOT_FOUND'],
    ['a GET of a method', 'GET', '/v1/models/m:predict', 404, 'NOT_FOUND'],
    ['another method of HTTP', 'DELETE', '/v1/models/m:predict', 405, 'UNIMPLEMENTED'],
    ['OPTIONS', 'OPTIONS', '/v1/models/m:predict', 405, 'UNIMPLEMENTED'],
    ['OPTIONS of a served method', 'OPTIONS', '/v1/models/m:countTokens', 405, 'UNIMPLEMENTED'],
    ['an unknown path', 'POST', '/v1/files', 404, 'NOT_FOUND'],
  ])(
    'is refused in the form of the API for its clients at /v1 too: %s',
    async (_, method, path, status, word) => {
      const gateway = await geminiGateway()
      const headers = { 'x-goog-api-key': 'k' }
      const response = await gateway.get(path, { method, headers })
      expect(response.status).toBe(status)
      expect((await response.json()).error).toMatchObject({ code: status, status: word })
    },
  )

  test.each([
    ['/v1/models/m', 200],
    ['/v1/models/m:predict', 404],
    ['/v1/models/m:countTokens', 405],
    ['/v1/publishers/google/models/m:predict', 404],
  ])('has no body for HEAD %s', async (path, status) => {
    const gateway = await geminiGateway()
    const response = await gateway.get(path, { method: 'HEAD', headers: { 'x-goog-api-key': 'k' } })
    expect([response.status, await response.text()]).toEqual([status, ''])
  })

  test.each([
    ['POST', '/v1/models/m'],
    ['POST', '/v1/models/llama:8b'],
    ['DELETE', '/v1/models/m:predict'],
  ])('is not what other clients ask for: %s %s', async (method, path) => {
    const gateway = await geminiGateway()
    const response = await gateway.get(path, { method })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect((await response.json()).error.code).toBe('LM-1003')
  })

  test('has the base URL of the OpenAI API', async () => {
    const gateway = await geminiGateway()
    const response = await gateway.get('/v1beta/openai/chat/completions', { method: 'POST' })
    expect((await response.json()).error).toMatchObject({
      code: 404,
      message: expect.stringContaining('ends with /v1'),
    })
  })
})

describe('the models', () => {
  test('are listed at the paths of the API, and at /v1/models for its clients', async () => {
    const gateway = await geminiGateway()
    const expected = ['models/gemini', 'models/m', 'models/claude']
    const list = async (path: string, headers = {}) => {
      const { models } = await (await gateway.get(path, { headers })).json()
      return models?.map(({ name }: { readonly name: string }) => name)
    }
    expect(await list('/v1beta/models')).toEqual(expected)
    expect(await list('/v1beta1/publishers/google/models')).toEqual(expected)
    expect(await list('/v1/models', { 'x-goog-api-key': 'k' })).toEqual(expected)
    expect(await list('/v1/models')).toBeUndefined()
    const one = await (await gateway.get('/v1beta/models/m')).json()
    expect(one).toMatchObject({
      name: 'models/m',
      supportedGenerationMethods: ['generateContent', 'countTokens'],
    })
  })

  test('come in pages', async () => {
    const gateway = await geminiGateway()
    const page = async (query: string) => (await gateway.get(`/v1beta/models?${query}`)).json()
    const { models, nextPageToken } = await page('pageSize=2')
    expect(models).toHaveLength(2)
    const rest = await page(`pageSize=2&pageToken=${nextPageToken}`)
    expect(rest).toEqual({ models: [expect.objectContaining({ name: 'models/claude' })] })
    expect((await page('pageToken=none')).error.status).toBe('INVALID_ARGUMENT')
  })
})

describe('a key', () => {
  test('may stand where the clients of the API send it', async () => {
    const gateway = await keyedGateway()
    const { secret } = await gateway.key()
    const ask = async (query: string, headers: Record<string, string> = {}) => {
      gateway.upstream.next(json(completion()))
      return (
        await post(gateway, asking(), { path: `/v1beta/models/m:generateContent${query}`, headers })
      ).status
    }
    expect(await ask(`?key=${secret}`)).toBe(200)
    expect(await ask('', { 'x-goog-api-key': secret })).toBe(200)
    expect(await ask('', { authorization: `Bearer ${secret}` })).toBe(200)
    expect(await ask('?key=other', { 'x-goog-api-key': secret })).toBe(200)
    expect(await ask('?key=other')).toBe(401)
    expect((await gateway.get(`/v1/models?key=${secret}`)).status).toBe(200)
    expect(JSON.stringify(gateway.log)).not.toContain(secret)
    const rows = await gateway.rows()
    expect(rows.map(({ api, tokensTotal }) => [api, tokensTotal])).toEqual(
      Array.from({ length: 4 }, () => ['gemini', 11]),
    )
  })

  test('that has spent its budget is told so with a status that no client repeats', async () => {
    const gateway = await keyedGateway()
    const { headers } = await gateway.key({ budget_max: 0.000_001 })
    const response = await post(gateway, asking(), { headers })
    expect(response.status).toBe(402)
    expect((await response.json()).error.status).toBe('FAILED_PRECONDITION')
  })
})

/** As JSON libraries of .NET write the characters of base64. */
function escapeText(text: string): string {
  return text.replace(/./g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)
}

describe('proofs of reasoning', () => {
  const thinking = { type: 'thinking', thinking: 'Hm', signature: 'sig+/=' }
  const answer = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: [thinking, { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } }],
    stop_reason: 'tool_use',
    usage: { input_tokens: 9, output_tokens: 2 },
  }
  const tools = [{ functionDeclarations: [{ name: 'f' }] }]
  const generationConfig = {
    maxOutputTokens: 9000,
    thinkingConfig: { thinkingBudget: 2000 },
  }
  const path = '/v1beta/models/claude:generateContent'

  test.each([
    ['as they are', (text: string) => text],
    ['in the alphabet for URLs', (text: string) => text.replaceAll('+', '-').replaceAll('/', '_')],
  ])('come back to their vendor, %s', async (_, change) => {
    const gateway = await geminiGateway()
    gateway.upstream.always(json(answer))
    const first = asking({ tools, generationConfig })
    const [part] = listParts(await (await post(gateway, first, { path })).json())
    expect(part?.functionCall).toMatchObject({ id: 'toolu_1', name: 'f' })
    expect(part?.thoughtSignature).toMatch(/^[A-Za-z0-9+/]+=*$/)
    const called = { ...part, thoughtSignature: change(part?.thoughtSignature ?? '') }
    const contents = [
      { role: 'user', parts: [{ text: 'Hi' }] },
      { role: 'model', parts: [called] },
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: 'done' } } }] },
    ]
    await post(gateway, { contents, tools, generationConfig }, { path })
    expect(gateway.upstream.body()).toMatchObject({
      messages: [
        {},
        { role: 'assistant', content: [thinking, { type: 'tool_use', id: 'toolu_1' }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] },
      ],
    })
  })

  test.each([
    ['plain', (body: object) => JSON.stringify(body)],
    [
      'with escapes',
      (body: object) =>
        JSON.stringify(body).replace(/(?<=[A-Za-z0-9])[+/=]+(?=[A-Za-z0-9"])/g, escapeText),
    ],
  ])('of other vendors are replaced for Gemini, which refuses them: %s', async (_, write) => {
    const gateway = await geminiGateway()
    gateway.upstream.next(json(answer))
    const [part] = listParts(
      await (await post(gateway, asking({ tools, generationConfig }), { path })).json(),
    )
    gateway.upstream.next(
      json({ candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason: 'STOP' }] }),
    )
    const quoted = { text: part?.thoughtSignature }
    const contents = [
      { role: 'model', parts: [quoted, part, { text: 'a', thoughtSignature: 'own+' }] },
    ]
    await post(gateway, write({ contents }), { path: '/v1beta/models/gemini:generateContent' })
    expect(gateway.upstream.body()).toEqual({
      contents: [
        {
          role: 'model',
          parts: [
            quoted,
            { ...part, thoughtSignature: 'skip_thought_signature_validator' },
            { text: 'a', thoughtSignature: 'own+' },
          ],
        },
      ],
    })
  })
})

describe('the cache', () => {
  test('serves one answer whole, as events and as an array', async () => {
    const cached = links.replace('id = "m",', 'id = "m", cache = true,')
    const gateway = await geminiGateway(`${cached}\n[cache]\nenabled = true\n`)
    gateway.upstream.next(
      stream([
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hel' } }] })}\n\n`,
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'lo' }, finish_reason: 'stop' }] })}\n\n`,
        'data: [DONE]\n\n',
      ]),
    )
    const live = await (await post(gateway, asking(), { path: streaming })).text()
    const again = await post(gateway, asking(), { path: streaming })
    expect([again.headers.get('x-gateway-cache'), await again.text()]).toEqual(['hit', live])
    const whole = await post(gateway, asking())
    expect(whole.headers.get('x-gateway-cache')).toBe('hit')
    const answer = await whole.json()
    expect(listParts(answer)).toEqual([{ text: 'Hello' }])
    expect(answer).toMatchObject({ candidates: [{ finishReason: 'STOP' }], modelVersion: 'm' })
    const array = await post(gateway, asking(), { path: '/v1beta/models/m:streamGenerateContent' })
    expect(array.headers.get('content-type')).toBe('application/json')
    expect(await array.json()).toEqual(parseChunks(live))
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test('keeps the answers of two models apart', async () => {
    const cached = links.replaceAll('modalities =', 'cache = true, modalities =')
    const gateway = await geminiGateway(`${cached}\n[cache]\nenabled = true\n`)
    gateway.upstream.next(json(completion('one')))
    await post(gateway, asking())
    await post(gateway, asking())
    gateway.upstream.next(
      json({ candidates: [{ content: { parts: [{ text: 'two' }] }, finishReason: 'STOP' }] }),
    )
    const other = await post(gateway, asking(), { path: '/v1beta/models/gemini:generateContent' })
    expect(listParts(await other.json())).toEqual([{ text: 'two' }])
  })
})
