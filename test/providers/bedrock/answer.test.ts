import { describe, expect, test } from 'vitest'
import { outcomeOf } from '../../support/chunks.ts'
import { errorOf } from '../../support/gateway.ts'
import { json } from '../../support/scripted-upstream.ts'
import { answered, apiKey, asking, bedrockGateway, patiently, requestId } from './support.ts'

/** What a client makes of an answer with these blocks. */
async function outcome(content: readonly object[], more: object = {}, fields: object = {}) {
  const { chat, upstream } = await bedrockGateway()
  upstream.next(json(answered(content, more)))
  return outcomeOf(await (await chat(asking(fields))).json())
}

describe('an answer', () => {
  test('has the id of the request, or one of its own', async () => {
    const { chat, upstream } = await bedrockGateway()
    const answer = answered([{ text: 'Hi' }])
    upstream.next(json(answer, { headers: requestId }), json(answer))
    expect(await (await chat(asking())).json()).toMatchObject({ id: 'chatcmpl-rid-1', model: 'm' })
    const { id } = (await (await chat(asking())).json()) as { id: string }
    expect(id).toMatch(/^chatcmpl-[0-9a-f]{32}$/)
  })

  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['content_filtered', 'content_filter'],
    ['guardrail_intervened', 'content_filter'],
    ['malformed_model_output', 'stop'],
    ['malformed_tool_use', 'stop'],
    ['tomorrow', 'stop'],
    [undefined, 'stop'],
  ])('that stops by %s has finish reason %s', async (stopReason, finish) => {
    expect((await outcome([{ text: 'Hi' }], { stopReason })).finish).toBe(finish)
  })

  test('with a call is one for tools, whatever the stop reason', async () => {
    const call = { toolUse: { toolUseId: 't', name: 'f' } }
    expect(await outcome([call], { stopReason: 'tomorrow' })).toMatchObject({
      finish: 'tool_calls',
      content: null,
      calls: [{ id: 't', type: 'function', function: { name: 'f', arguments: '{}' } }],
    })
    expect((await outcome([call], { stopReason: 'max_tokens' })).finish).toBe('length')
  })

  test('joins what is text, and leaves out what is none', async () => {
    const cited = { citationsContent: { content: [{ text: 'b' }, { text: 'c' }], citations: [] } }
    const image = { image: { format: 'png', source: { bytes: 'AAAA' } } }
    const blocks = [{ text: 'a' }, cited, image, { guardContent: {} }, { text: 'd' }]
    expect((await outcome(blocks)).content).toBe('abcd')
    expect((await outcome([])).content).toBe('')
  })

  test.each([[''], [undefined]])(
    'gives a call with the id %j one of its own',
    async (toolUseId) => {
      const call = { toolUse: { toolUseId, name: 'f', input: {} } }
      const { calls } = await outcome([call, call])
      for (const { id } of calls) expect(id).toMatch(/^call_[0-9a-f]{24}$/)
      expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
    },
  )

  test('gives signatures, whether or not the client asked for reasoning', async () => {
    const blocks = [
      { reasoningContent: { reasoningText: { text: 'Hm. ', signature: 'c2ln' } } },
      { reasoningContent: { redactedContent: 'AAAA' } },
      { reasoningContent: { reasoningText: { text: 'Ah.' } } },
      { text: 'Hi' },
    ]
    for (const fields of [{ reasoning_effort: 'low' }, {}]) {
      expect((await outcome(blocks, {}, fields)).message).toMatchObject({
        reasoning_content: 'Hm. Ah.',
        thinking_blocks: [
          { type: 'thinking', thinking: 'Hm. ', signature: 'c2ln' },
          { type: 'redacted_thinking', data: 'AAAA' },
        ],
      })
    }
  })

  test.each([
    [
      { inputTokens: 4, outputTokens: 2, cacheWriteInputTokens: 3 },
      { prompt_tokens: 7, total_tokens: 9 },
    ],
    [
      { inputTokens: 4, outputTokens: 2, cacheReadInputTokens: null },
      { prompt_tokens: 4, total_tokens: 6 },
    ],
    [
      { inputTokens: 4, outputTokens: 2, totalTokens: 99 },
      { prompt_tokens: 4, total_tokens: 6 },
    ],
    [
      { inputTokens: 4, outputTokens: 2, cacheReadInputTokens: 3 },
      { prompt_tokens_details: { cached_tokens: 3 } },
    ],
    [{ inputTokens: 4 }, { estimated: true }],
    [{ inputTokens: 4, outputTokens: 2, cacheReadInputTokens: -1 }, { estimated: true }],
    [{ inputTokens: 1.5, outputTokens: 2 }, { estimated: true }],
    [{ inputTokens: 2 ** 53 - 1, outputTokens: 2 }, { estimated: true }],
    [{ inputTokens: 0, outputTokens: 0 }, { estimated: true }],
    ['many', { estimated: true }],
  ])('counted as %j', async (usage, expected) => {
    expect((await outcome([{ text: 'Hi' }], { usage })).usage).toMatchObject(expected)
  })

  test.each([
    ['no output', { stopReason: 'end_turn' }],
    ['no message', { output: {} }],
    ['a call without a name', answered([{ toolUse: { toolUseId: 't' } }])],
    ['an error', { message: 'boom' }],
  ])('with %s is none', async (_, body) => {
    const gateway = await bedrockGateway()
    gateway.upstream.always(json(body))
    const response = await patiently(gateway, gateway.chat(asking()))
    expect((await errorOf(response))['code']).toBe('LM-3002')
    expect(gateway.upstream.requests).toHaveLength(3)
  })
})

interface Refused {
  readonly type?: string
  readonly message?: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

/** How the gateway answers to a status and type of error, and after how many calls. */
async function refusal(
  status: number,
  { type, message = 'Told so.', body, headers }: Refused = {},
) {
  const gateway = await bedrockGateway()
  const named = type === undefined ? {} : { 'x-amzn-errortype': type }
  gateway.upstream.always(json({ message, ...body }, { status, headers: { ...named, ...headers } }))
  const response = await patiently(gateway, gateway.chat(asking()))
  const { code, message: text } = await errorOf(response)
  return { status: response.status, code, text, calls: gateway.upstream.requests.length }
}

describe('an error', () => {
  test.each([
    [429, 'ThrottlingException', 429, 'LM-3001', 3],
    [429, 'ModelNotReadyException', 429, 'LM-3001', 3],
    [408, 'ModelTimeoutException', 504, 'LM-3005', 3],
    [424, 'ModelErrorException', 502, 'LM-3003', 3],
    [424, 'ModelStreamErrorException', 502, 'LM-3003', 3],
    [424, undefined, 502, 'LM-3003', 3],
    [500, 'InternalServerException', 502, 'LM-3003', 3],
    [503, 'ServiceUnavailableException', 502, 'LM-3003', 3],
    [400, 'ValidationException', 400, 'LM-3003', 1],
    [400, undefined, 400, 'LM-3003', 1],
    [400, 'ConflictException', 400, 'LM-3003', 1],
    [400, 'ServiceQuotaExceededException', 502, 'LM-3003', 1],
    [404, 'ResourceNotFoundException', 404, 'LM-3003', 1],
    [404, 'UnknownOperationException', 404, 'LM-3003', 1],
    [404, 'FTUFormNotFilled', 502, 'LM-3003', 1],
    [403, 'AccessDeniedException', 502, 'LM-3003', 1],
    [403, 'InvalidSignatureException', 502, 'LM-3003', 1],
    [403, 'ExpiredTokenException', 502, 'LM-3003', 1],
    [403, undefined, 502, 'LM-3003', 1],
    [400, 'IncompleteSignature', 502, 'LM-3003', 1],
    [400, 'RequestExpired', 502, 'LM-3003', 1],
  ])('%i %s is told as %i %s after %i calls', async (status, type, told, code, calls) => {
    const refused = await refusal(status, type === undefined ? {} : { type })
    expect(refused).toMatchObject({ status: told, code, calls })
    expect(refused.text).toContain('Told so.')
  })

  test.each([
    ['a header with its address', { type: 'RequestExpired:http://internal.amazon.com/coral/' }],
    ['a body with its namespace', { body: { __type: 'com.amazon.coral.service#RequestExpired' } }],
    ['a code', { body: { code: 'RequestExpired' } }],
  ])('is known by %s', async (_, refused) => {
    expect((await refusal(400, refused)).status).toBe(502)
  })

  test.each([
    [400, 424, 1],
    [429, 502, 3],
    [500, 502, 3],
  ])('of the model with its own status %i', async (originalStatusCode, told, calls) => {
    const type = 'ModelErrorException'
    const refused = await refusal(424, { type, body: { originalStatusCode } })
    expect(refused).toMatchObject({ status: told, code: 'LM-3003', calls })
  })

  test('says the vendor’s words under either name', async () => {
    const { text } = await refusal(400, { body: { message: undefined, Message: 'In capitals.' } })
    expect(text).toMatch(/: In capitals\.$/)
  })

  const id = 'AKIA1234567890123456'
  const key = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
  const token = 'IQoJb3JpZ2luX2VjEXAMPLETOKEN//////////wEaCXVzLWVhc3QtMSJHMEUCIQ'

  test.each([
    ['an API key', apiKey],
    ['three parts', `${id}:${key}:${token}`],
    ['JSON', JSON.stringify({ access_key_id: id, secret_access_key: key, session_token: token })],
  ])('never shows a credential of %s', async (_, secret) => {
    const { chat, upstream } = await bedrockGateway({ secret })
    // AWS quotes the request that it has tried to verify, token included.
    const quoted = `${'x'.repeat(230)} should have been 'POST ${token} ${key} ${apiKey}'`
    upstream.next(json({ message: quoted }, { status: 403 }))
    const text = await (await chat(asking())).text()
    expect(text).toContain('should have been')
    for (const piece of secret.includes(key) ? [key, token] : [apiKey]) {
      expect(text).not.toContain(piece.slice(0, 12))
    }
  })
})
