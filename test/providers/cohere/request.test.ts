import { describe, expect, test } from 'vitest'
import { errorOf } from '../../support/gateway.ts'
import { json } from '../../support/scripted-upstream.ts'
import { answered, asking, cohereGateway } from './support.ts'

/** The body that reaches the vendor for a request with these fields. */
async function sent(fields: object): Promise<Record<string, unknown>> {
  const { chat, upstream } = await cohereGateway()
  upstream.next(json(answered({})))
  expect((await chat(asking(fields))).status).toBe(200)
  // A request body is always an object.
  return upstream.body() as Record<string, unknown>
}

async function sentMessage(message: object): Promise<unknown> {
  const { messages } = await sent({ messages: [message] })
  return (messages as unknown[])[0]
}

/** The field that a strict provider refuses a request for. */
async function refused(fields: object): Promise<unknown> {
  const { chat, upstream } = await cohereGateway('strict = true')
  const response = await chat(asking(fields))
  expect(response.status).toBe(400)
  expect(upstream.requests).toEqual([])
  const { code, param } = await errorOf(response)
  expect(code).toBe('LM-1001')
  return param
}

const parameters = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}

function tool(name: string, more: object = {}): object {
  return { type: 'function', function: { name, parameters, ...more } }
}

const lookUp = { id: 'w1', type: 'function', function: { name: 'get', arguments: '{"a":1}' } }

describe('the address', () => {
  test.each([
    ['', 'https://co.test/v2/chat'],
    ['/', 'https://co.test/v2/chat'],
    ['/v1', 'https://co.test/v2/chat'],
    ['/v2/', 'https://co.test/v2/chat'],
    ['/v2/chat', 'https://co.test/v2/chat'],
    ['/compatibility/v1', 'https://co.test/v2/chat'],
    ['/compatibility/v1/chat/completions', 'https://co.test/v2/chat'],
    ['/team/cohere', 'https://co.test/team/cohere/v2/chat'],
    ['/team/v2?tenant=7#top', 'https://co.test/team/v2/chat?tenant=7'],
  ])('base_url ending in %j', async (path, url) => {
    const { chat, upstream } = await cohereGateway(`base_url = "https://co.test${path}"`)
    upstream.next(json(answered({})))
    await chat(asking())
    expect(upstream.requests[0]?.url).toBe(url)
  })
})

describe('messages', () => {
  test('text parts are joined where the vendor takes a string, and kept apart for users', async () => {
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

  test('a user message of nothing but empty parts is an empty string', async () => {
    const content = [{ type: 'text', text: '' }]
    expect(await sentMessage({ role: 'user', content })).toEqual({ role: 'user', content: '' })
    expect(await sentMessage({ role: 'user', content: [] })).toEqual({ role: 'user', content: '' })
  })

  test('no content stays away, and earlier reasoning too', async () => {
    const message = { role: 'assistant', content: null, reasoning_content: 'Hmm.' }
    expect(await sentMessage(message)).toEqual({ role: 'assistant' })
  })

  test('reasoning and text beside calls become the plan', async () => {
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

  test('of a call only the members that the vendor knows are sent, arguments as they were', async () => {
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

  test('legacy functions and their results are tools with an id of their own', async () => {
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

  test.each(['auto', 'low', 'high'])('an image keeps its detail %s', async (detail) => {
    const image = { type: 'image_url', image_url: { url: 'https://a.test/b.png', detail } }
    expect(await sentMessage({ role: 'user', content: [image] })).toEqual({
      role: 'user',
      content: [image],
    })
  })

  test('a detail that the vendor does not know is left out', async () => {
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
    ['an image for the system', { role: 'system', content: [image] }],
    ['an image of the assistant', { role: 'assistant', content: [image] }],
    ['an image beside calls', { role: 'assistant', content: [image], tool_calls: [lookUp] }],
    ['an image as a tool result', { role: 'tool', tool_call_id: 'w1', content: [image] }],
    ['audio', { role: 'user', content: [audio] }],
    ['a file', { role: 'user', content: [{ type: 'file', file: { file_id: 'f-1' } }] }],
    ['a part of an unknown type', { role: 'user', content: [{ type: 'video_url' }] }],
    ['a part after good ones', { role: 'user', content: [{ type: 'text', text: 'a' }, audio] }],
  ])('%s cannot be said', async (_, message) => {
    const { chat, upstream } = await cohereGateway()
    const response = await chat(asking({ messages: [message] }))
    expect(response.status).toBe(400)
    const { content } = message
    expect(await errorOf(response)).toMatchObject({
      code: 'LM-1001',
      param: `messages.0.content.${content.length - 1}`,
    })
    expect(upstream.requests).toEqual([])
  })
})

describe('tools', () => {
  test('a schema passes unchanged, and an empty one is an object without properties', async () => {
    const none = { type: 'object', properties: {} }
    const { tools } = await sent({
      tools: [tool('a'), tool('b', { parameters: {} }), tool('c', { parameters: null })],
    })
    expect(tools).toEqual([
      tool('a'),
      tool('b', { parameters: none }),
      tool('c', { parameters: none }),
    ])
  })

  test.each([
    ['auto', undefined],
    ['none', 'NONE'],
    ['required', 'REQUIRED'],
    [{ type: 'function', function: { name: 'a' } }, undefined],
    [{ type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [tool('a')] } }, undefined],
    [{ type: 'custom', custom: { name: 'a' } }, undefined],
  ])('tool_choice %j is %j, and every tool is offered', async (choice, expected) => {
    const body = await sent({ tools: [tool('a'), tool('b')], tool_choice: choice })
    expect(body['tool_choice']).toBe(expected)
    expect(body['tools']).toEqual([tool('a'), tool('b')])
  })

  test.each([{ tools: [] }, { tools: null }, {}])('%j is no tools and no choice', async (none) => {
    const body = await sent({ ...none, tool_choice: 'none' })
    expect(body).not.toHaveProperty('tools')
    expect(body).not.toHaveProperty('tool_choice')
  })

  test('strict functions are a matter of all or none', async () => {
    const [strict, loose] = [tool('a', { strict: true }), tool('b', { strict: false })]
    expect(await sent({ tools: [strict] })).toMatchObject({
      strict_tools: true,
      tools: [tool('a')],
    })
    expect(await sent({ tools: [strict, loose] })).not.toHaveProperty('strict_tools')
    expect(await sent({ tools: [loose] })).not.toHaveProperty('strict_tools')
    expect(await refused({ tools: [loose, strict] })).toBe('tools.1.function.strict')
    const { chat, upstream } = await cohereGateway('strict = true')
    upstream.next(json(answered({})))
    expect((await chat(asking({ tools: [strict, strict] }))).status).toBe(200)
  })

  test('a tool that is no function is dropped', async () => {
    const custom = { type: 'custom', custom: { name: 'x' } }
    expect((await sent({ tools: [custom, tool('a')] }))['tools']).toEqual([tool('a')])
    expect(await refused({ tools: [tool('a'), custom] })).toBe('tools.1')
  })
})

describe('response_format', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
  const json_schema = { name: 'o', description: 'd', strict: true, schema }

  test.each([
    [{ type: 'text' }, undefined],
    [{ type: 'json_object' }, { type: 'json_object' }],
    [
      { type: 'json_schema', json_schema },
      { type: 'json_object', json_schema: schema },
    ],
    [{ type: 'json_schema', json_schema: { name: 'o' } }, { type: 'json_object' }],
  ])('%j', async (response_format, expected) => {
    expect((await sent({ response_format }))['response_format']).toEqual(expected)
  })

  test('beside tools a JSON format is refused under strict, and text is not', async () => {
    const tools = [tool('a')]
    const format = { type: 'json_schema', json_schema }
    expect(await refused({ tools, response_format: format })).toBe('response_format')
    expect(await sent({ tools, response_format: { type: 'text' } })).not.toHaveProperty(
      'response_format',
    )
  })
})

describe('sampling', () => {
  test.each([
    [{ top_p: 0.5 }, { p: 0.5 }],
    [{ top_p: 0.995 }, { p: 0.99 }],
    [{ top_p: 0 }, { p: 0.01 }],
    [{ temperature: 1.7 }, { temperature: 1.7 }],
    [{ temperature: 0 }, { temperature: 0 }],
    [{ stop: ['', 'a', ''] }, { stop_sequences: ['a'] }],
    [{ max_tokens: 5 }, { max_tokens: 5 }],
    [{ seed: 0 }, { seed: 0 }],
    [{ presence_penalty: 1 }, { presence_penalty: 1 }],
    [
      { presence_penalty: 0.5, frequency_penalty: 0.5 },
      { presence_penalty: 0.5, frequency_penalty: 0.5 },
    ],
    [{ reasoning_effort: 'high' }, { thinking: { type: 'enabled' } }],
    [{ reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
  ])('%j becomes %j', async (field, expected) => {
    expect(await sent(field)).toEqual({
      model: 'command-a-03-2025',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: false,
      ...expected,
    })
  })

  test.each(['stop', 'seed', 'temperature', 'reasoning_effort', 'logprobs', 'tool_choice'])(
    '%s of a wrong type is refused',
    async (field) => {
      const { chat, upstream } = await cohereGateway()
      const response = await chat(
        asking({ [field]: 7.5, ...(field === 'temperature' && { [field]: 'hot' }) }),
      )
      expect(await errorOf(response)).toMatchObject({ code: 'LM-1001', param: field })
      expect(upstream.requests).toEqual([])
    },
  )
})

describe('what has no counterpart', () => {
  test.each([
    { n: 2 },
    { top_logprobs: 3 },
    { logit_bias: { 1: 2 } },
    { parallel_tool_calls: false },
    { prediction: { type: 'content', content: 'a' } },
    { audio: { voice: 'alloy', format: 'wav' } },
    { modalities: ['text', 'audio'] },
    { store: true },
    { verbosity: 'low' },
    { service_tier: 'flex' },
    { web_search_options: {} },
    { seed: -1 },
    { frequency_penalty: -0.5 },
    { presence_penalty: 1.5 },
    { reasoning_effort: 'medium' },
  ])('%j is dropped, and refused under strict', async (field) => {
    expect(Object.keys(await sent(field)).toSorted()).toEqual(['messages', 'model', 'stream'])
    expect(await refused(field)).toBe(Object.keys(field)[0])
  })

  test('what asks for nothing is dropped by a strict provider too', async () => {
    const { chat, upstream } = await cohereGateway('strict = true')
    upstream.next(json(answered({})))
    const neutral = {
      n: 1,
      parallel_tool_calls: true,
      logprobs: false,
      top_logprobs: 0,
      top_p: 1,
      frequency_penalty: 0,
      presence_penalty: 0,
      logit_bias: {},
      service_tier: 'default',
      modalities: ['text'],
      store: false,
      verbosity: 'medium',
      response_format: { type: 'text' },
      tools: null,
      seed: null,
      reasoning_effort: null,
      stream: null,
    }
    const silent = {
      user: 'u',
      safety_identifier: 's',
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
      stream_options: { include_usage: true },
      documents: ['d'],
      safety_mode: 'OFF',
    }
    expect((await chat(asking({ ...neutral, ...silent }))).status).toBe(200)
    expect(upstream.body()).toEqual({
      model: 'command-a-03-2025',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: false,
    })
  })
})
