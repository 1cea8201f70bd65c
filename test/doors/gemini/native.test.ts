import { describe, expect, test } from 'vitest'
import { keyedGateway } from '../../support/keyed-gateway.ts'
import { json, stream, whole } from '../../support/scripted-upstream.ts'
import { asking, geminiGateway, links, parseChunks, post } from './support.ts'

const path = '/v1beta/models/gemini:generateContent'
const streaming = '/v1/models/gemini:streamGenerateContent'
const counts = { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 }

const first =
  '{ "candidates":[{"content":{"parts":[{"text":"Hel","thoughtSignature":"x+/="}],"role":"model"},"index":0}],"modelVersion":"v"}'
const last = `{"candidates":[{"content":{"parts":[{"text":"lo"}]},"finishReason":"STOP","index":0}],"usageMetadata":${JSON.stringify(counts)}, "unknown": 1.50}`

describe('a link that speaks the API itself', () => {
  test('gets the bytes of the client, at the address of its model', async () => {
    const gateway = await geminiGateway()
    const answer = `{ "candidates" : [{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}], "usageMetadata": ${JSON.stringify(counts)}, "n": 1.0}`
    gateway.upstream.next(whole(answer))
    const body = '{ "contents":[{"parts":[{"text":"Hi"}]}], "new_field": 1.00 }'
    const response = await post(gateway, body, {
      path: `${path}?key=secret`,
      headers: { 'x-goog-api-client': 'test' },
    })
    expect(await response.text()).toBe(answer)
    const [sent] = gateway.upstream.requests
    expect(sent?.url).toBe(
      'https://generativelanguage.googleapis.com/v1beta/models/gemini-3.5-pro:generateContent',
    )
    expect(gateway.upstream.text()).toBe(body)
    expect(sent?.headers['x-goog-api-key']).toBeDefined()
    expect(JSON.stringify(gateway.log)).not.toContain('secret')
  })

  test.each([
    ['a tier by its number', '"serviceTier":3', 'serviceTier'],
    ['a tier that is a list', '"service_tier":["priority"]', 'serviceTier'],
    ['two tiers', '"serviceTier":"flex","serviceTier":"priority"', 'serviceTier'],
    [
      'two tiers in the other spelling',
      '"service_tier":"flex","service_tier":"priority"',
      'service_tier',
    ],
  ])('gets no request with %s, whose price is not known', async (_, member, param) => {
    const gateway = await geminiGateway()
    const response = await post(gateway, `{${member},"contents":[{"parts":[{"text":"Hi"}]}]}`, {
      path,
    })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain(param)
    expect(gateway.upstream.requests).toHaveLength(0)
  })

  test('gets its own name where a body names the model', async () => {
    const gateway = await geminiGateway()
    gateway.upstream.next(whole(first.replace('"index"', '"finishReason":"STOP","index"')))
    await post(gateway, '{"model":"models/gemini","contents":[{"parts":[{"text":"Hi"}]}]}', {
      path,
    })
    expect(gateway.upstream.text()).toBe(
      '{"model":"models/gemini-3.5-pro","contents":[{"parts":[{"text":"Hi"}]}]}',
    )
    gateway.upstream.next(json({ totalTokens: 3 }))
    const inner = '{ "contents":[{"parts":[{"text":"model"}]}], "model": "models/gemini" }'
    await post(gateway, `{"generateContentRequest":${inner}}`, {
      path: '/v1beta/models/gemini:countTokens',
    })
    expect(gateway.upstream.text()).toBe(
      `{"generateContentRequest":${inner.replace('models/gemini', 'models/gemini-3.5-pro')}}`,
    )
  })

  test.each(['\r\n', '\n'])('streams the bytes of its events %j', async (end) => {
    const gateway = await geminiGateway()
    const events = `data: ${first}${end}${end}data: ${last}${end}${end}`
    gateway.upstream.next(stream([...events]))
    const response = await post(gateway, asking(), { path: `${streaming}?alt=sse` })
    expect(await response.text()).toBe(events)
    expect(gateway.upstream.requests[0]?.url).toBe(
      'https://generativelanguage.googleapis.com/v1beta/models/gemini-3.5-pro:streamGenerateContent?alt=sse',
    )
  })

  test('streams the same chunks as a JSON array', async () => {
    const gateway = await geminiGateway()
    gateway.upstream.next(stream([`data: ${first}\r\n\r\n`, `data: ${last}\r\n\r\n`]))
    const response = await post(gateway, asking(), { path: streaming })
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.text()).toBe(`[${first},\r\n${last}\n]`)
  })

  test('adds counts that the upstream does not report', async () => {
    const gateway = await geminiGateway()
    const bare = '{"candidates":[{"content":{"parts":[{"text":"Hello"}]},"finishReason":"STOP"}]}'
    gateway.upstream.next(whole(bare), stream([`data: ${bare}\n\n`]))
    const whole1 = await (await post(gateway, asking(), { path })).json()
    expect(whole1.usageMetadata).toMatchObject({
      totalTokenCount: expect.any(Number),
      estimated: true,
    })
    const text = await (await post(gateway, asking(), { path: `${streaming}?alt=sse` })).text()
    expect(text.startsWith(`data: ${bare}\n\n`)).toBe(true)
    expect(parseChunks(text).at(-1)).toMatchObject({ usageMetadata: { estimated: true } })
  })

  test.each([
    ['is no answer', '{"nothing":1}', 502],
    ['is empty', '{"candidates":[]}', 502],
    [
      'ends with a malformed call',
      '{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}',
      502,
    ],
    ['blocks the prompt', '{"promptFeedback":{"blockReason":"SAFETY"}}', 200],
  ])('whose answer %s', async (_, answer, status) => {
    const gateway = await geminiGateway()
    gateway.upstream.always(whole(answer))
    const response = await post(gateway, asking(), { path })
    expect(response.status).toBe(status)
  })

  test('adds its counts to any number of members with one name', async () => {
    const gateway = await geminiGateway()
    const members = '"totalTokenCount":0,'.repeat(130_000)
    gateway.upstream.next(
      whole(
        first
          .replace('"index"', '"finishReason":"STOP","index"')
          .replace('"modelVersion"', `"usageMetadata":{${members}"n":1},"modelVersion"`),
      ),
    )
    const response = await post(gateway, asking(), { path })
    expect(response.status).toBe(200)
    expect((await response.json()).usageMetadata).toMatchObject({ estimated: true, n: 1 })
  })

  test('counts the running totals of its events, also of those that differ in a text alone', async () => {
    const gateway = await keyedGateway(
      links.replace(
        'id = "gemini",',
        'id = "gemini", cost_per_1m_input = 1, cost_per_1m_output = 1,',
      ),
    )
    const { headers } = await gateway.key()
    const piece = (at: number, finish = {}) => {
      const usageMetadata = {
        promptTokenCount: 5,
        candidatesTokenCount: at,
        thoughtsTokenCount: at + 1,
        totalTokenCount: 6 + 2 * at,
        promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 5 }],
      }
      const content = { parts: [{ text: ` w${at}é` }], role: 'model' }
      return `data: ${JSON.stringify({ candidates: [{ content, ...finish, index: 0 }], usageMetadata, modelVersion: 'v' })}\r\n\r\n`
    }
    const pieces = [1, 2, 3, 11, 12].map((at) => piece(at))
    const sent = [
      [...pieces, piece(40, { finishReason: 'STOP' })],
      // Joined in pairs, and cut before the end.
      [pieces.slice(0, 2).join(''), pieces.slice(2).join('')],
    ]
    const at = `${streaming}?alt=sse`
    gateway.upstream.next(stream(sent[0] ?? []), stream(sent[1] ?? []))
    const complete = await post(gateway, asking(), { path: at, headers })
    expect(await complete.text()).toBe(sent[0]?.join(''))
    const cut = await post(gateway, asking(), { path: at, headers })
    await expect(cut.text()).rejects.toThrow('the stream has failed')
    const rows = await gateway.rows()
    expect(rows.toSorted((a, b) => a.tokensOut - b.tokensOut)).toMatchObject([
      { tokensIn: 5, tokensOut: 25, reasoningTokens: 13 },
      { tokensIn: 5, tokensOut: 81, reasoningTokens: 41 },
    ])
  })

  test('whose stream ends without a reason is cut', async () => {
    const gateway = await geminiGateway()
    gateway.upstream.next(stream([`data: ${first}\n\n`]))
    const response = await post(gateway, asking(), { path: `${streaming}?alt=sse` })
    await expect(response.text()).rejects.toThrow('the stream has failed')
  })

  test('counts by itself, and the gateway where it does not', async () => {
    const gateway = await geminiGateway()
    gateway.upstream.next(json({ totalTokens: 42 }))
    const count = (model: string, body: unknown) =>
      post(gateway, body, { path: `/v1beta/models/${model}:countTokens` }).then((one) => one.json())
    expect(await count('gemini', asking())).toEqual({ totalTokens: 42 })
    const estimate = await count('m', asking())
    expect(estimate).toMatchObject({ totalTokens: expect.any(Number), estimated: true })
    const older = await count('m', { generateContentRequest: { model: 'models/m', ...asking() } })
    expect(older).toEqual(estimate)
  })
})
