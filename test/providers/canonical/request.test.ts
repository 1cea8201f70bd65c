import { describe, expect, test } from 'vitest'
import { UntranslatableError } from '../../../src/core/untranslatable-error.ts'
import { ParsedChat } from '../../../src/doors/chat/request.ts'
import { joinText } from '../../../src/providers/canonical/messages.ts'
import { readRequest } from '../../../src/providers/canonical/request.ts'
import { listCallableTools } from '../../../src/providers/canonical/tools.ts'
import { stringifyJson } from '../../../src/wire/json/raw.ts'
import { scanLayout } from '../../../src/wire/json/scan.ts'

const createPastCall = (text: string) => {
  const bytes = new TextEncoder().encode(text)
  const layout = scanLayout(bytes, [
    'model',
    'stream_options',
    'messages',
    'tools',
    'prompt_cache_key',
  ])
  const request = JSON.parse(text)
  return new ParsedChat({ bytes, layout, head: request, request })
}
const call = (fields: object) =>
  createPastCall(
    JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...fields }),
  )
const read = (fields: object) => readRequest(call(fields))

function findParam(fields: object): string | undefined {
  try {
    read(fields)
  } catch (error) {
    if (error instanceof UntranslatableError) return error.param
    throw error
  }
  return undefined
}

describe('a request', () => {
  test('a request with only a question reads as defaults', () => {
    expect(read({})).toMatchObject({
      messages: [{ role: 'user', content: 'Hi', path: 'messages.0' }],
      tools: [],
      leftOut: [],
      toolChoice: undefined,
      responseFormat: { kind: 'text' },
      stop: [],
      maxTokens: undefined,
      thinking: { kind: 'unset' },
    })
  })

  test('null reads as absent', () => {
    const names = Object.keys(read({})).filter((name) => name !== 'messages' && name !== 'raw')
    const wire = names.map((name) => name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`))
    const nulls = Object.fromEntries(wire.map((name) => [name, null]))
    const { raw: _, ...fromNulls } = read(nulls)
    const { raw: __, ...fromNothing } = read({})
    expect(fromNulls).toEqual(fromNothing)
  })

  test('a request is read once and never modified', () => {
    const once = call({ tools: [{ type: 'function', function: { name: 'f' } }] })
    const before = structuredClone(once.request)
    expect(readRequest(once)).toBe(readRequest(once))
    expect(once.request).toEqual(before)
  })

  test.each([
    [{ stop: 'a' }, { stop: ['a'] }],
    [{ stop: ['a', '', ' '] }, { stop: ['a', ' '] }],
    [{ max_tokens: 1, max_completion_tokens: 2 }, { maxTokens: 2 }],
    [{ max_tokens: 1 }, { maxTokens: 1 }],
    [{ response_format: { type: 'json_object' } }, { responseFormat: { kind: 'json_object' } }],
    [
      { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { a: 1 } } } },
      { responseFormat: { kind: 'json_schema', name: 'n', schema: { a: 1 }, strict: false } },
    ],
    [{ seed: 2 ** 60 }, { seed: 2 ** 60 }],
  ])('%j', (fields, expected) => {
    expect(read(fields)).toMatchObject(expected)
  })

  test.each([
    [{ stop: [1] }, 'stop.0'],
    [{ seed: 1.5 }, 'seed'],
    [{ temperature: '1' }, 'temperature'],
    [{ parallel_tool_calls: 'no' }, 'parallel_tool_calls'],
    [{ reasoning_effort: 3 }, 'reasoning_effort'],
    [{ response_format: 'json' }, 'response_format'],
    [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
    [{ tool_choice: { type: 'function' } }, 'tool_choice.function'],
    [{ tool_choice: { name: 'f' } }, 'tool_choice.type'],
    [
      { tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 1, tools: [] } } },
      'tool_choice.allowed_tools.mode',
    ],
    [{ tools: [{ type: 'function' }] }, 'tools.0.function'],
    [{ tools: [{ name: 'f', input_schema: {} }] }, 'tools.0.function'],
    [{ tools: [{ function: { name: 'f', parameters: 'x' } }] }, 'tools.0.function.parameters'],
    [
      { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] },
      'messages.0.content.0.image_url',
    ],
    [{ messages: [{ role: 'user', content: [{ type: 'file' }] }] }, 'messages.0.content.0.file'],
    [
      { messages: [{ role: 'assistant', tool_calls: [{ id: 'a' }] }] },
      'messages.0.tool_calls.0.function',
    ],
    [{ messages: [{ role: 'assistant', reasoning_content: 5 }] }, 'messages.0.reasoning_content'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages.0.tool_call_id'],
    [{ messages: [{ role: 'boss', content: 'x' }] }, 'messages.0.role'],
  ])('a request with %j is refused', (fields, param) => {
    expect(findParam(fields)).toBe(param)
  })
})

describe('an unknown value reads as absent and is listed as unread', () => {
  test.each([
    [{ reasoning_effort: 'ultra' }, 'reasoning_effort', 'thinking', { kind: 'unset' }],
    [{ tool_choice: 'any' }, 'tool_choice', 'toolChoice', undefined],
    [{ tool_choice: { type: 'mcp', server: 's' } }, 'tool_choice', 'toolChoice', undefined],
    [
      { tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'x', tools: [] } } },
      'tool_choice',
      'toolChoice',
      undefined,
    ],
    [{ function_call: 'always' }, 'function_call', 'toolChoice', undefined],
    [
      { response_format: { type: 'grammar' } },
      'response_format',
      'responseFormat',
      { kind: 'text' },
    ],
    [{ tools: [{ type: 'computer_use_preview' }] }, 'tools.0', 'tools', []],
  ] as const)('%j', (fields, path, name, value) => {
    const request = read(fields)
    expect(request.leftOut.map((unread) => unread.path)).toEqual([path])
    expect(request[name]).toEqual(value)
  })
})

test.each([
  [{ type: 'web_search_20250305' }, 'anthropic'],
  [{ google_search: {} }, 'google'],
  [{ systemTool: { name: 'nova_grounding' } }, 'bedrock'],
])('the tool %j is one that its vendor runs', (tool, owner) => {
  const request = read({ tools: [tool] })
  expect(request.vendorTools).toEqual([{ owner, path: 'tools.0', raw: tool }])
  expect({ tools: request.tools, leftOut: request.leftOut }).toEqual({ tools: [], leftOut: [] })
})

describe('a long body is read in time', () => {
  test('reading stops at the first invalid item', () => {
    const wrong = call({ stop: Array.from({ length: 150_000 }, () => 1) })
    const before = performance.now()
    expect(() => readRequest(wrong)).toThrow('stop.0')
    expect(performance.now() - before).toBeLessThan(2000)
  })

  test('the calls of legacy results are found without a search', () => {
    const results = Array.from({ length: 30_000 }, () => ({ role: 'function', content: 'x' }))
    const asked = { role: 'assistant', function_call: { name: 'f', arguments: '{}' } }
    const long = call({ messages: [asked, ...results] })
    const before = performance.now()
    expect(readRequest(long).messages.at(-1)).toMatchObject({ callId: 'call_0_0' })
    expect(performance.now() - before).toBeLessThan(2000)
  })
})

describe('tools', () => {
  const f = {
    type: 'function',
    function: { name: 'f', strict: true, parameters: { type: 'object' } },
  }

  test('functions are separated from other tools', () => {
    const request = read({ tools: [{ type: 'custom', custom: { name: 'c' } }, f] })
    expect(request.tools).toEqual([
      {
        name: 'f',
        description: undefined,
        parameters: { type: 'object' },
        strict: true,
        path: 'tools.1',
        raw: f,
      },
    ])
    expect(request.leftOut).toEqual([{ feature: 'tools of another type', path: 'tools.0' }])
  })

  test('legacy fields are read only without their new forms', () => {
    const legacy = { functions: [{ name: 'old' }], function_call: { name: 'old' } }
    expect(read(legacy)).toMatchObject({
      tools: [{ name: 'old', path: 'functions.0' }],
      toolChoice: { kind: 'function', name: 'old' },
    })
    expect(read({ ...legacy, tools: [f], tool_choice: 'auto' })).toMatchObject({
      tools: [{ name: 'f' }],
      toolChoice: { kind: 'auto' },
    })
  })

  test('allowed_tools leaves the other functions out', () => {
    const tools = [f, { type: 'function', function: { name: 'g' } }]
    const some = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [f] } }
    const request = read({ tools, tool_choice: some })
    expect(request.toolChoice).toEqual({ kind: 'allowed', mode: 'auto', names: ['f'] })
    expect(listCallableTools(request).map(({ name }) => name)).toEqual(['f'])
    expect(listCallableTools(read({ tools }))).toHaveLength(2)
  })
})

describe('messages', () => {
  const messagesOf = (...messages: object[]) => read({ messages }).messages

  test('content is read as the client wrote it', () => {
    const [one, two, three] = messagesOf(
      { role: 'developer', content: 'a' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'b' },
          { type: 'refusal', refusal: 'c' },
        ],
      },
      { role: 'assistant', content: null },
    )
    expect(one).toMatchObject({ role: 'system', content: 'a' })
    expect(two?.content).toMatchObject([
      { type: 'text', text: 'b', path: 'messages.1.content.0' },
      { type: 'text', text: 'c', path: 'messages.1.content.1' },
    ])
    expect(two && joinText(two)).toBe('bc')
    expect(three?.content).toBeUndefined()
  })

  test('parts of every type are read', () => {
    const [message] = messagesOf({
      role: 'user',
      content: [
        { text: 'no type' },
        { type: 'image_url', image_url: { url: 'u', detail: 'low' } },
        { type: 'image_url', image_url: 'u' },
        { type: 'input_audio', input_audio: { data: 'd', format: 'wav' } },
        { type: 'file', file: { file_data: 'd', filename: 'n' } },
        { type: 'hologram' },
      ],
    })
    expect(message?.content).toMatchObject([
      { type: 'text', text: 'no type' },
      { type: 'image', url: 'u', detail: 'low' },
      { type: 'image', url: 'u', detail: undefined },
      { type: 'audio', data: 'd', format: 'wav' },
      { type: 'file', data: 'd', id: undefined, name: 'n' },
      { type: 'other', raw: { type: 'hologram' } },
    ])
  })

  test('a refusal is the text of a message without content', () => {
    const said = (fields: object) => messagesOf({ role: 'assistant', ...fields })[0]?.content
    expect(said({ content: null, refusal: 'No.' })).toBe('No.')
    expect(said({ content: '', refusal: 'No.' })).toBe('No.')
    expect(said({ content: 'Yes.', refusal: 'No.' })).toBe('Yes.')
    expect(said({ content: '', refusal: null })).toBe('')
  })

  test('calls of every form are read', () => {
    const messages = messagesOf(
      {
        role: 'assistant',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
          { type: 'function', function: { name: 'f' } },
          { id: 'c', type: 'custom', custom: { name: 'g', input: 'free "text"' } },
        ],
      },
      { role: 'assistant', function_call: { name: 'old', arguments: '' } },
      { role: 'function', name: 'old', content: 'x' },
      { role: 'tool', tool_call_id: 'a', content: 'y' },
    )
    expect(messages).toMatchObject([
      {
        calls: [
          { id: 'a', name: 'f', arguments: '{"x":1}', path: 'messages.0.tool_calls.0' },
          { id: 'call_0_1', name: 'f', arguments: '' },
          { id: 'c', name: 'g', arguments: '{"input":"free \\"text\\""}' },
        ],
      },
      { calls: [{ id: 'call_1_0', name: 'old' }] },
      { role: 'tool', callId: 'call_1_0', name: 'old' },
      { role: 'tool', callId: 'a', name: undefined },
    ])
  })

  test('arguments that are an object keep the text of the client', () => {
    const given = ['{ "id": 12345678901234567890, "n": 1.0 }', '{}', '{"z":1e400,"a":0}']
    const made = given.map((text) => `{"id":"a","function":{"name":"f","arguments":${text}}}`)
    const body = `{"model":"m","messages":[
      {"role":"user","content":"Hi"},
      {"role":"assistant","tool_calls":[${made[0]},${made[1]}]},
      {"role":"assistant","function_call":{"name":"f","arguments":${given[2]}}}]}`
    const { messages } = readRequest(createPastCall(body))
    const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.calls : []))
    expect(calls.map(({ arguments: text }) => text)).toEqual(given)
  })

  test('many arguments take linear time', () => {
    const made = { id: 'a', function: { name: 'f', arguments: { text: 'x'.repeat(100) } } }
    const calls = Array.from({ length: 10_000 }, () => made)
    const long = call({ messages: [{ role: 'assistant', tool_calls: calls }] })
    const before = performance.now()
    readRequest(long)
    expect(performance.now() - before).toBeLessThan(2000)
  })

  test.each([
    ['', '{}'],
    [' \n', '{}'],
    ['null', '{}'],
    ['{"a":[1]}', '{"a":[1]}'],
    [' {"a": 1.0}\n', '{"a": 1.0}'],
    ['[1]', '{"rawInvalidInput":"[1]"}'],
    ['5', '{"rawInvalidInput":"5"}'],
    ['{"a":', '{"rawInvalidInput":"{\\"a\\":"}'],
    [nested(128), nested(128)],
    [nested(129), JSON.stringify({ rawInvalidInput: nested(129) })],
    [nested(50_000), JSON.stringify({ rawInvalidInput: nested(50_000) })],
  ])('the arguments %j become the object %j', (text, expected) => {
    const [message] = messagesOf({
      role: 'assistant',
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: text } }],
    })
    const [made] = message?.role === 'assistant' ? message.calls : []
    expect(made && stringifyJson(made.object)).toBe(expected)
  })
})

/** JSON text with objects nested this deep. */
function nested(depth: number): string {
  return '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)
}
