import { describe, expect, test } from 'vitest'
import { json } from '../../support/scripted-upstream.ts'
import {
  asking,
  chatAnswer,
  messagesGateway,
  post,
  readMessagesError,
  sent,
  twoLinks,
} from './support.ts'

const user = { role: 'user', content: 'Hi' }
const image = { type: 'base64', media_type: 'image/png', data: 'aGk=' }
const web = { type: 'web_search_20250305', name: 'web_search' }
const strict = twoLinks.replace('kind = "openai"', 'kind = "openai"\nstrict = true')

describe('a request for a translated link', () => {
  test('has its instructions, bound and stop sequences in the form of chat completions', async () => {
    const system = [
      { type: 'text', text: 'A', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'B' },
    ]
    expect(
      await sent({ system, stop_sequences: ['x'], metadata: { user_id: 'u' }, top_k: 5 }),
    ).toEqual({
      model: 'upstream-m',
      messages: [{ role: 'system', content: 'A\n\nB' }, user],
      max_completion_tokens: 64,
      stop: ['x'],
    })
  })

  test('keeps the numbers of a call to the digit, and puts results first', async () => {
    const call =
      '{"type":"tool_use","id":"t1","name":"f","input":{"n":12345678901234567890,"x":1.0}}'
    const gateway = await messagesGateway()
    gateway.upstream.next(chatAnswer())
    const results = [
      { type: 'text', text: 'and?' },
      {
        type: 'tool_result',
        tool_use_id: 't1',
        is_error: true,
        content: [
          { type: 'text', text: 'no' },
          { type: 'image', source: image },
        ],
      },
    ]
    const turns = [
      user,
      { role: 'assistant', content: ['CALL'] },
      { role: 'user', content: results },
    ]
    const body = JSON.stringify(asking({ messages: turns })).replace('"CALL"', call)
    expect((await post(gateway, body)).status).toBe(200)
    const { messages } = gateway.upstream.body() as { messages: Record<string, unknown>[] }
    expect(messages[1]?.['tool_calls']).toEqual([
      {
        id: 't1',
        type: 'function',
        function: { name: 'f', arguments: '{"n":12345678901234567890,"x":1.0}' },
      },
    ])
    expect(messages[2]).toMatchObject({ role: 'tool', tool_call_id: 't1' })
    expect(messages[2]?.['content']).toMatch(/^The tool call failed\.\n\nno\n\n/)
    expect(messages[3]).toMatchObject({
      role: 'user',
      content: [
        { type: 'text' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
        { type: 'text', text: 'and?' },
      ],
    })
  })

  test('has no vendor-run tool, and no choice that names one', async () => {
    const choice = { type: 'tool', name: 'web_search' }
    const body = await sent({ tools: [web], tool_choice: choice })
    expect(body).not.toHaveProperty('tools')
    expect(body).not.toHaveProperty('tool_choice')
  })

  test('is LM-1001 for a strict provider that would have to drop a tool', async () => {
    const gateway = await messagesGateway(strict)
    const response = await post(gateway, asking({ tools: [web] }))
    expect(response.status).toBe(400)
    expect(await readMessagesError(response)).toMatchObject({ code: 'LM-1001', param: 'tools.0' })
  })

  test('is not sent when it continues a thread', async () => {
    const gateway = await messagesGateway()
    const response = await post(
      gateway,
      asking({ thread: { type: 'continue', previous_message_id: 'x' } }),
    )
    expect(response.status).toBe(400)
    expect(await readMessagesError(response)).toMatchObject({
      details: { error_code: 'thread_not_found' },
    })
    expect(gateway.upstream.requests).toEqual([])
  })

  test.each([
    ['max_tokens', { max_tokens: 0 }],
    ['max_tokens', { max_tokens: -1 }],
    ['messages.0.role', { messages: [{ role: 'other', content: 'x' }] }],
    [
      'messages.0.content.0.source.data',
      {
        messages: [
          {
            role: 'user',
            content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png' } }],
          },
        ],
      },
    ],
    ['tools.0.input_schema', { tools: [{ name: 'f' }] }],
    ['messages', { messages: [] }],
  ])('is LM-1001 that names %s', async (param, fields) => {
    const response = await post(await messagesGateway(), asking(fields))
    expect(response.status).toBe(400)
    expect(await readMessagesError(response)).toMatchObject({ code: 'LM-1001', param })
  })

  test('has an effort only for a model that reasons', async () => {
    const thinking = { type: 'enabled', budget_tokens: 5000 }
    expect(await sent({ thinking })).not.toHaveProperty('reasoning_effort')
    const reasoning = twoLinks.replace(
      'id = "m"',
      'id = "m", reasoning = true, max_output_tokens = 10',
    )
    expect(await sent({ thinking }, reasoning)).toMatchObject({
      reasoning_effort: 'medium',
      max_completion_tokens: 10,
    })
    const effort = { output_config: { effort: 'high' } }
    expect(await sent({ thinking, ...effort }, reasoning)).toMatchObject({
      reasoning_effort: 'high',
    })
  })
})

describe('an effort on a system message inside the conversation', () => {
  const reasoning = twoLinks.replace('id = "m"', 'id = "m", reasoning = true')
  const set = (effort: unknown) => ({ role: 'system', content: [], output_config: { effort } })
  const said = { role: 'assistant', content: 'Ha' }
  const called = {
    role: 'assistant',
    content: [{ type: 'tool_use', id: 't1', name: 'f', input: {} }],
  }
  const result = { type: 'tool_result', tool_use_id: 't1', content: 'ok' }
  const returned = { role: 'user', content: [result] }
  const both = { role: 'user', content: [result, { type: 'text', text: 'And?' }] }
  const note = { role: 'system', content: 'A note', output_config: { effort: 'low' } }

  test.each<[title: string, messages: readonly object[], expected: string]>([
    ['counts at once behind the input of the user', [user, set('low')], 'low'],
    ['counts with a text beside it', [user, note], 'low'],
    ['counts from the next input on elsewhere', [user, said, set('low'), user], 'low'],
    ['does not count before that', [user, called, set('low'), returned], 'high'],
    ['waits while results of tools come alone', [user, called, returned, set('low')], 'high'],
    ['counts behind results with a text', [user, called, both, set('low')], 'low'],
    ['stays until the next change', [user, set('low'), said, user, said, user], 'low'],
    ['gives way to the next change', [user, set('low'), said, user, set('medium')], 'medium'],
    ['gives way to a later one at the same place', [user, set('low'), set('medium')], 'medium'],
    ['is no change when it is null', [user, set(null)], 'high'],
    ['means nothing on a message of another role', [{ ...user, ...at('low') }], 'high'],
  ])('%s', async (_, messages, expected) => {
    expect(await sent({ messages, ...at('high') }, reasoning)).toMatchObject({
      reasoning_effort: expected,
    })
  })

  test('counts without one of the request', async () => {
    const messages = [user, set('low')]
    expect(await sent({ messages }, reasoning)).toMatchObject({ reasoning_effort: 'low' })
  })

  test('is LM-1001 that names it when it is not a text', async () => {
    const response = await post(await messagesGateway(), asking({ messages: [user, set(5)] }))
    expect(response.status).toBe(400)
    expect(await readMessagesError(response)).toMatchObject({
      code: 'LM-1001',
      param: 'messages.1.output_config.effort',
    })
  })

  test('is named by its path when the model cannot have it', async () => {
    const gateway = await messagesGateway(strict)
    const response = await post(gateway, asking({ messages: [user, set('low')] }))
    expect(response.status).toBe(400)
    expect(await readMessagesError(response)).toMatchObject({
      code: 'LM-1001',
      param: 'messages.1.output_config.effort',
    })
  })

  function at(effort: string): object {
    return { output_config: { effort } }
  }
})

describe('a tool with defer_loading', () => {
  const tool = (name: string, fields: object = {}) => ({
    name,
    input_schema: { type: 'object' },
    ...fields,
  })
  const later = tool('later', { defer_loading: true })
  const tools = [tool('search'), later]
  const call = (name: string) => ({
    role: 'assistant',
    content: [{ type: 'tool_use', id: 't1', name, input: {} }],
  })
  const result = (content: unknown) => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 't1', content }],
  })
  const reference = { type: 'tool_reference', tool_name: 'later' }
  const addition = { type: 'tool_addition', tool: { type: 'tool_reference', name: 'later' } }
  const vendorSearch = { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' }

  async function listNames(fields: object, config?: string): Promise<readonly string[]> {
    const { tools: offered } = await sent({ tools, ...fields }, config)
    return (offered as { function: { name: string } }[]).map((each) => each.function.name)
  }

  test('is not offered before the conversation loads it, also by a strict provider', async () => {
    expect(await listNames({})).toEqual(['search'])
    expect(await listNames({}, strict)).toEqual(['search'])
    const elsewhere = [user, call('search'), result('later')]
    expect(await listNames({ messages: elsewhere })).toEqual(['search'])
  })

  test.each<[title: string, fields: object]>([
    ['a result refers to it', { messages: [user, call('search'), result([reference])] }],
    ['a system message adds it', { messages: [user, { role: 'system', content: [addition] }] }],
    ['it was called', { messages: [user, call('later'), result('ok')] }],
    ['it must be called', { tool_choice: { type: 'tool', name: 'later' } }],
    ['only the vendor could find it', { tools: [...tools, vendorSearch] }],
    ['it is not deferred', { tools: [tool('search'), { ...later, defer_loading: false }] }],
  ])('is offered when %s', async (_, fields) => {
    expect(await listNames(fields)).toEqual(['search', 'later'])
  })

  test('leaves the places of the others in errors', async () => {
    const wrong = tool('wrong', { input_schema: 5 })
    const response = await post(await messagesGateway(), asking({ tools: [later, wrong] }))
    expect(await readMessagesError(response)).toMatchObject({ param: 'tools.1.input_schema' })
  })
})

describe('tools that the conversation changes', () => {
  const tool = (name: string, fields: object = {}) => ({
    name,
    input_schema: { type: 'object' },
    ...fields,
  })
  const reference = (name: string) => ({ type: 'tool_reference', name })
  const definition = (given: object) => ({ type: 'tool_definition', definition: given })
  const add = (change: object) => ({ type: 'tool_addition', tool: change })
  const remove = (change: object) => ({ type: 'tool_removal', tool: change })
  const changed = (...content: readonly object[]) => ({ role: 'system', content })
  const newer = tool('a', { description: 'newer' })

  async function offer(messages: readonly object[], fields: object = {}) {
    const tools = [tool('a'), tool('b')]
    const { tools: offered = [] } = await sent({ tools, messages: [user, ...messages], ...fields })
    return (offered as { function: { name: string; description?: string } }[]).map(
      ({ function: { name, description } }) => (description ? `${name}: ${description}` : name),
    )
  }

  test.each<[title: string, messages: readonly object[], offered: readonly string[]]>([
    ['a removal', [changed(remove(reference('a')))], ['b']],
    ['a removal of all', [changed(remove(reference('a')), remove(reference('b')))], []],
    [
      'an addition after a removal',
      [changed(remove(reference('a'))), user, changed(add(reference('a')))],
      ['a', 'b'],
    ],
    [
      'a removal after an addition',
      [changed(add(reference('a'))), user, changed(remove(reference('a')))],
      ['b'],
    ],
    ['a definition', [changed(add(definition(tool('c'))))], ['a', 'b', 'c']],
    ['a definition in the place of another', [changed(add(definition(newer)))], ['a: newer', 'b']],
    [
      'a definition that is removed, and referred to again',
      [
        changed(add(definition(tool('c')))),
        changed(remove(reference('c'))),
        changed(add(reference('c')), remove(reference('b'))),
      ],
      ['a', 'c'],
    ],
    [
      'a block of instructions in a message of the user',
      [{ role: 'user', content: [{ type: 'mid_conv_system', content: [remove(reference('a'))] }] }],
      ['b'],
    ],
    [
      'a summary of earlier changes',
      [
        {
          role: 'assistant',
          content: [
            {
              type: 'compaction',
              content: 'So far.',
              tool_changes: [remove(reference('b')), add(definition(tool('c')))],
            },
          ],
        },
        user,
      ],
      ['a', 'c'],
    ],
    [
      'a removal of what only a server of tools has',
      [
        changed(
          remove({ type: 'mcp_tool_reference', name: 'a', server_name: 's' }),
          add({ type: 'mcp_toolset_reference', server_name: 's' }),
        ),
      ],
      ['a', 'b'],
    ],
  ])('%s', async (_, messages, offered) => {
    expect(await offer(messages)).toEqual(offered)
  })

  test('a call and a search result bring no removed tool back', async () => {
    const call = { type: 'tool_use', id: 't1', name: 'a', input: {} }
    const found = [{ type: 'tool_reference', tool_name: 'a' }]
    const messages = [
      changed(remove(reference('a'))),
      { role: 'assistant', content: [call] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: found }] },
    ]
    expect(
      await offer(messages, { tools: [tool('a', { defer_loading: true }), tool('b')] }),
    ).toEqual(['b'])
  })

  test('instructions in a message of the user are a system message in their place', async () => {
    const block = { type: 'mid_conv_system', content: [{ type: 'text', text: 'Be brief.' }] }
    const content = [{ type: 'text', text: 'Hi' }, block]
    expect(await sent({ messages: [{ role: 'user', content }] })).toMatchObject({
      messages: [user, { role: 'system', content: 'Be brief.' }],
    })
  })

  test('a choice of a removed tool, and a definition of a tool of the vendor, are said to be dropped', async () => {
    const gateway = await messagesGateway()
    gateway.upstream.next(chatAnswer())
    const messages = [user, changed(remove(reference('a')), add(definition(web)))]
    const response = await post(
      gateway,
      asking({
        tools: [tool('a'), tool('b')],
        tool_choice: { type: 'tool', name: 'a' },
        messages,
      }),
    )
    expect(response.headers.get('x-gateway-dropped')).toBe(
      'messages.1.content.1.tool.definition,tool_choice',
    )
  })

  test('an error names the place of the definition', async () => {
    const wrong = changed(add(definition(tool('c', { input_schema: 5 }))))
    const response = await post(await messagesGateway(), asking({ messages: [user, wrong] }))
    expect(await readMessagesError(response)).toMatchObject({
      code: 'LM-1001',
      param: 'messages.1.content.0.tool.definition.input_schema',
    })
  })
})

describe('the older field output_format', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  const format = { type: 'json_schema', schema }
  const responseFormat = { type: 'json_schema', json_schema: { name: 'output', schema } }

  test('means output_config.format, alone or beside an equal one', async () => {
    expect(await sent({ output_format: format })).toMatchObject({ response_format: responseFormat })
    const equal = { schema: { properties: schema.properties, type: 'object' }, type: 'json_schema' }
    const both = { output_config: { format: equal, effort: 'low' }, output_format: format }
    expect(await sent(both)).toMatchObject({ response_format: responseFormat })
    const empty = { output_config: { format: null }, output_format: format }
    expect(await sent(empty)).toMatchObject({ response_format: responseFormat })
  })

  test.each([
    [
      'output_format',
      { output_format: format, output_config: { format: { ...format, schema: {} } } },
    ],
    ['output_format.schema', { output_format: { type: 'json_schema', schema: 5 } }],
    ['output_format', { output_format: 'json' }],
  ])('is LM-1001 that names %s', async (param, fields) => {
    const response = await post(await messagesGateway(), asking(fields))
    expect(response.status).toBe(400)
    expect(await readMessagesError(response)).toMatchObject({ code: 'LM-1001', param })
  })

  test('of an unknown type is said to be dropped', async () => {
    const gateway = await messagesGateway()
    gateway.upstream.next(chatAnswer())
    const response = await post(gateway, asking({ output_format: { type: 'xml' } }))
    expect(response.headers.get('x-gateway-dropped')).toBe('output_format')
  })
})

describe('texts of an earlier answer', () => {
  const text = (written: string) => ({ type: 'text', text: written })
  const server = { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }
  const result = { type: 'web_search_tool_result', tool_use_id: 's1', content: [] }
  const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }
  const call = { type: 'tool_use', id: 't1', name: 'f', input: {} }

  test.each([
    ['touch', [text('One'), text(' two')], 'One two'],
    ['touch beside an empty one', [text('One'), text(''), text(' two')], 'One two'],
    [
      'stand around blocks that are left out',
      [text('One.'), server, result, text('Two.')],
      'One.\n\nTwo.',
    ],
    ['stand around thinking', [text('One.'), thinking, text('Two.')], 'One.\n\nTwo.'],
    ['stand around a call', [text('One.'), call, text('Two.')], 'One.\n\nTwo.'],
    ['have such blocks only in front or behind', [thinking, text('One.'), server], 'One.'],
  ])('that %s', async (_, content, expected) => {
    const messages = [user, { role: 'assistant', content }, user]
    const body = await sent({ messages })
    expect((body['messages'] as object[])[1]).toMatchObject({ content: expected })
  })
})

test('an answer of a native link without usage gets an estimate, and keeps its other bytes', async () => {
  const gateway = await messagesGateway()
  gateway.upstream.next(json({ type: 'message', content: [{ type: 'text', text: 'Hello' }], x: 1 }))
  const response = await post(gateway, asking({ model: 'claude' }))
  const counts =
    '"input_tokens":8,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":2'
  expect(await response.text()).toBe(
    `{"type":"message","content":[{"type":"text","text":"Hello"}],"x":1,"usage":{${counts},"estimated":true}}`,
  )
})
