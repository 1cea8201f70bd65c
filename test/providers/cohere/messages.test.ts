import { describe, expect, test } from 'vitest'
import { readError } from '../../support/gateway.ts'
import { asking, cohereGateway, parameters, sent, tool } from './support.ts'

async function sentMessage(message: object): Promise<unknown> {
  const { messages } = await sent({ messages: [message] })
  return (messages as unknown[])[0]
}
const lookUp = { id: 'w1', type: 'function', function: { name: 'get', arguments: '{"a":1}' } }
describe('messages', () => {
  test('text parts are joined in all roles but the user, whose parts are kept', async () => {
    const content = [
      { type: 'text', text: 'a' },
      { type: 'text', text: '' },
      { type: 'refusal', refusal: 'b' },
    ]
    expect(await sentMessage({ role: 'system', content })).toEqual({
      role: 'system',
      content: 'ab',
    })
    expect(await sentMessage({ role: 'assistant', content })).toEqual({
      role: 'assistant',
      content: 'ab',
    })
    expect(await sentMessage({ role: 'user', content, name: 'Ann' })).toEqual({
      role: 'user',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    })
  })

  test.each([[''], [[]], [[{ type: 'text', text: '' }]]])(
    'the content %j of a user beside other messages becomes an empty string',
    async (content) => {
      const first = { role: 'user', content: 'Hi' }
      const { messages } = await sent({ messages: [first, { role: 'user', content }] })
      expect(messages).toEqual([first, { role: 'user', content: '' }])
    },
  )

  test.each([[[{ role: 'user', content: '' }]], [[{ role: 'user', content: [] }]], [[]]])(
    'instructions with the messages %j get a user text',
    async (others) => {
      const system = { role: 'system', content: 'Be brief.' }
      const { messages } = await sent({ messages: [system, ...others] })
      expect(messages).toEqual([system, { role: 'user', content: '.' }])
    },
  )

  test('an assistant message without content is sent without it, and without its reasoning', async () => {
    const message = { role: 'assistant', content: null, reasoning_content: 'Hmm.' }
    expect(await sentMessage(message)).toEqual({ role: 'assistant' })
  })

  test('the reasoning and the text beside calls become the tool_plan', async () => {
    const message = { role: 'assistant', tool_calls: [lookUp] }
    expect(await sentMessage({ ...message, content: 'B', reasoning_content: 'A' })).toEqual({
      role: 'assistant',
      tool_plan: 'A\nB',
      tool_calls: [lookUp],
    })
    expect(await sentMessage({ ...message, content: null, reasoning_content: 'A' })).toEqual({
      role: 'assistant',
      tool_plan: 'A',
      tool_calls: [lookUp],
    })
    expect(await sentMessage({ ...message, content: '' })).toEqual({
      role: 'assistant',
      tool_calls: [lookUp],
    })
  })

  test('a call is sent with the known fields only, and its arguments unchanged', async () => {
    const call = {
      ...lookUp,
      index: 0,
      extra_content: { google: {} },
      function: { name: 'get', arguments: '{ "a": 1.0 }', strict: true },
    }
    expect(await sentMessage({ role: 'assistant', tool_calls: [call] })).toEqual({
      role: 'assistant',
      tool_calls: [
        { id: 'w1', type: 'function', function: { name: 'get', arguments: '{ "a": 1.0 }' } },
      ],
    })
  })

  test('legacy function calls and results become tool calls with a new id', async () => {
    const body = await sent({
      functions: [{ name: 'get', parameters }],
      function_call: 'auto',
      messages: [
        { role: 'user', content: 'W?' },
        { role: 'assistant', content: null, function_call: { name: 'get', arguments: '{}' } },
        { role: 'function', name: 'get', content: '4' },
      ],
    })
    expect(body).toMatchObject({
      tools: [tool('get')],
      messages: [
        { role: 'user' },
        { role: 'assistant', tool_calls: [{ id: 'call_1_0', function: { name: 'get' } }] },
        { role: 'tool', tool_call_id: 'call_1_0', content: '4' },
      ],
    })
  })

  test.each(['auto', 'low', 'high'])('an image keeps its detail of %s', async (detail) => {
    const image = { type: 'image_url', image_url: { url: 'https://a.test/b.png', detail } }
    expect(await sentMessage({ role: 'user', content: [image] })).toEqual({
      role: 'user',
      content: [image],
    })
  })

  test('an unknown detail of an image is left out', async () => {
    const url = 'data:image/png;base64,iVBORw0KGgo='
    const content = [{ type: 'image_url', image_url: { url, detail: 'original' } }]
    expect(await sentMessage({ role: 'user', content })).toEqual({
      role: 'user',
      content: [{ type: 'image_url', image_url: { url } }],
    })
  })

  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
  const audio = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }

  test.each([
    ['an image in a system message', { role: 'system', content: [image] }],
    ['an image in an assistant message', { role: 'assistant', content: [image] }],
    ['an image beside calls', { role: 'assistant', content: [image], tool_calls: [lookUp] }],
    ['an image as a tool result', { role: 'tool', tool_call_id: 'w1', content: [image] }],
    ['audio', { role: 'user', content: [audio] }],
    ['a file', { role: 'user', content: [{ type: 'file', file: { file_id: 'f-1' } }] }],
    ['a part of an unknown type', { role: 'user', content: [{ type: 'hologram' }] }],
    ['an audio part after a text', { role: 'user', content: [{ type: 'text', text: 'a' }, audio] }],
  ])('%s is refused with the path of the part', async (_, message) => {
    const { chat, upstream } = await cohereGateway()
    const response = await chat(asking({ messages: [message] }))
    expect(response.status).toBe(400)
    const { content } = message
    expect(await readError(response)).toMatchObject({
      code: 'LM-1001',
      param: `messages.0.content.${content.length - 1}`,
    })
    expect(upstream.requests).toEqual([])
  })
})
