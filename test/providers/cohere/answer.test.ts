import { describe, expect, test } from 'vitest'
import { readError } from '../../support/gateway.ts'
import { whole } from '../../support/scripted-upstream.ts'
import { answered, asking, cohereGateway, patiently, readCompletion } from './support.ts'

async function messageOf(message: object): Promise<unknown> {
  return (await readCompletion(answered(message))).choices[0]?.message
}
function called(call: object): object {
  return answered({ tool_calls: [call] }, { finish_reason: 'TOOL_CALL' })
}
describe('the message', () => {
  test.each([{}, { content: null }, { content: [] }, { content: [{ type: 'text', text: '' }] }])(
    'a message %j has empty text as its content',
    async (message) => {
      expect(await messageOf(message)).toEqual({ role: 'assistant', content: '' })
    },
  )

  test('the reasoning holds the thoughts and then the plan, and the content neither', async () => {
    const content = [
      { type: 'thinking', thinking: 'A' },
      { type: 'text', text: 'B' },
      { type: 'thinking', thinking: 'C' },
    ]
    expect(await messageOf({ content, tool_plan: 'D' })).toEqual({
      role: 'assistant',
      content: 'B',
      reasoning_content: 'AC\nD',
      provider_content: { family: 'cohere', content: [...content, { tool_plan: 'D' }] },
    })
  })

  test('each source of a citation becomes an annotation with its position in the joined text', async () => {
    const content = [
      { type: 'thinking', thinking: 'Hm' },
      { type: 'text', text: 'Añ😀' },
      { type: 'text', text: 'Oslo it is' },
    ]
    const sources = [
      { type: 'document', id: 'd1', document: { id: 'd1', url: 'https://a.example', title: 'A' } },
      { type: 'tool', id: 'call_1:0', tool_output: { temp: 3 } },
    ]
    const citations = [
      { start: 0, end: 4, text: 'Oslo', sources, content_index: 2, type: 'TEXT_CONTENT' },
      { start: 0, end: 2, text: 'Hm', sources, type: 'THINKING_CONTENT' },
    ]
    const place = { start_index: 3, end_index: 7, text: 'Oslo' }
    expect(await messageOf({ content, citations })).toMatchObject({
      content: 'Añ😀Oslo it is',
      annotations: [
        {
          type: 'url_citation',
          url_citation: { ...place, url: 'https://a.example', title: 'A', source_id: 'd1' },
        },
        {
          type: 'url_citation',
          url_citation: { ...place, url: '', title: 'call_1:0', source_id: 'call_1:0' },
        },
      ],
    })
  })

  test('citations without sources, and citations of other blocks, are no annotations', async () => {
    const content = [
      { type: 'sketch', sketch: { x: 1 } },
      { type: 'text', text: 'B' },
    ]
    const citations = [{ start: 0, end: 1, text: 'B', sources: [] }]
    expect(await messageOf({ content, citations })).toEqual({
      role: 'assistant',
      content: 'B',
      provider_content: { family: 'cohere', content: [...content, ...citations] },
    })
  })

  test.each([undefined, null, '', ' ', 'null', '{}'])(
    'a call with the arguments %j has an empty object as its arguments',
    async (text) => {
      const call = { id: 'n1', type: 'function', function: { name: 'now', arguments: text } }
      const { choices } = await readCompletion(called(call))
      expect(choices[0]?.message).toEqual({
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'n1', type: 'function', function: { name: 'now', arguments: '{}' } }],
      })
    },
  )

  test('a call without an id gets a new one', async () => {
    const { choices } = await readCompletion(called({ function: { name: 'now', arguments: '{}' } }))
    expect(choices[0]?.message['tool_calls']).toEqual([
      {
        id: expect.stringMatching(/^call_[0-9a-f]{24}$/),
        type: 'function',
        function: expect.anything(),
      },
    ])
  })

  test('an answer without an id gets a new one', async () => {
    expect((await readCompletion(answered({}, { id: null }))).id).toMatch(/^chatcmpl-[0-9a-f]{32}$/)
  })
})
describe('log probabilities', () => {
  const logprobs = [{ text: 'Hi', token_ids: [1], logprobs: [-0.5] }]

  test('log probabilities are left out unless the client requests them', async () => {
    expect((await readCompletion(answered({}, { logprobs }))).choices[0]?.logprobs).toBeNull()
  })

  test.each([undefined, null, 'none', [{ token_ids: [1] }]])(
    'invalid log probabilities of %j are left out',
    async (none) => {
      const { choices } = await readCompletion(answered({}, { logprobs: none }), { logprobs: true })
      expect(choices[0]?.logprobs).toBeNull()
    },
  )
})
describe('malformed answers', () => {
  test.each([
    ['text that is not JSON', '{"id":"co-1","message":{'],
    ['markup', '<html><body>Bad gateway</body></html>'],
    ['an empty body', ''],
    ['a list', '[]'],
    ['an answer of API v1', '{"text":"Hi","generation_id":"g"}'],
    ['a message that is a string', '{"id":"co-1","message":"Hi"}'],
    ['an answer of the OpenAI format', '{"choices":[{"message":{"content":"Hi"}}]}'],
  ])('an answer with %s is malformed and is retried', async (_, body) => {
    const gateway = await cohereGateway()
    gateway.upstream.always(whole(body))
    const response = await patiently(gateway, gateway.chat(asking()))
    expect(response.status).toBe(502)
    expect((await readError(response))['code']).toBe('LM-3002')
    expect(gateway.upstream.requests).toHaveLength(3)
  })
})
