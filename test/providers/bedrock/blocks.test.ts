import { describe, expect, test } from 'vitest'
import { json } from '../../support/scripted-upstream.ts'
import { answered, bedrockGateway, refuseMessages, sendMessages, sonnet } from './support.ts'

const nova = 'us.amazon.nova-pro-v1:0'
const llama = 'us.meta.llama3-3-70b-instruct-v1:0'

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown, more: object = {}) => ({ role: 'assistant', content, ...more })
const call = (id: string, text = '{}', name = 'f') => ({
  id,
  type: 'function',
  function: { name, arguments: text },
})
const result = (id: string, content: unknown, more: object = {}) => ({
  role: 'tool',
  tool_call_id: id,
  content,
  ...more,
})
const text = (value: string, more: object = {}) => ({ type: 'text', text: value, ...more })
describe('cache marks', () => {
  const mark = { cache_control: { type: 'ephemeral' } }
  const point = { cachePoint: { type: 'default' } }

  test('a mark becomes a cache point behind its block, on Claude and Nova', async () => {
    const messages = [
      { role: 'system', content: 'S', ...mark },
      user([text('1', mark), text(' ', mark)]),
      assistant([text('2', mark)], { tool_calls: [call('a')] }),
      result('a', [text('3', mark)]),
    ]
    for (const model of [sonnet, nova]) {
      expect(await sendMessages(messages, model)).toMatchObject({
        system: [{ text: 'S' }, point],
        messages: [
          { content: [{ text: '1' }, point] },
          { content: [{ text: '2' }, point, { toolUse: {} }] },
          { content: [{ toolResult: { content: [{ text: '3' }] } }, point] },
        ],
      })
    }
    expect(JSON.stringify(await sendMessages(messages, llama))).not.toContain('cachePoint')
  })

  test('a cache point never follows a text document', async () => {
    const marked = (type: string) => ({
      type: 'file',
      file: { file_data: `data:${type};base64,AAAA` },
      ...mark,
    })
    const { messages } = await sendMessages([
      user([text('1'), marked('text/plain'), marked('application/pdf')]),
    ])
    expect(messages[0]?.content).toMatchObject([
      { text: '1' },
      point,
      { document: { format: 'txt' } },
      { document: { format: 'pdf' } },
      point,
    ])
  })

  test('the mark of a blank text moves to the nearest block before it, in any message', async () => {
    const blank = text(' ', mark)
    expect(await sendMessages([user([text('1'), blank, text('2')])])).toMatchObject({
      messages: [{ content: [{ text: '1' }, point, { text: '2' }] }],
    })
    expect(await sendMessages([user('1'), assistant('2'), user([blank, text('3')])])).toMatchObject(
      {
        messages: [
          { content: [{ text: '1' }] },
          { content: [{ text: '2' }, point] },
          { content: [{ text: '3' }] },
        ],
      },
    )
    const system = { role: 'system', content: 'S' }
    expect(await sendMessages([system, user([blank, text('1')])])).toEqual({
      system: [{ text: 'S' }, point],
      messages: [{ role: 'user', content: [{ text: '1' }] }],
    })
    expect(await sendMessages([user([blank, text('1')])])).toEqual({
      messages: [{ role: 'user', content: [{ text: '1' }] }],
    })
  })

  test('a cache point may follow a call, but not reasoning', async () => {
    const calls = [call('a'), { ...call('b'), ...mark }]
    const results = [result('a', '1'), result('b', '2')]
    const used = [{ toolUse: { toolUseId: 'a' } }, { toolUse: { toolUseId: 'b' } }, point]
    const turn = async (said: object) =>
      (await sendMessages([user('1'), said, ...results])).messages
    expect((await turn(assistant('', { tool_calls: calls })))[1]?.content).toMatchObject(used)
    const marked = assistant(null, { tool_calls: [call('a'), call('b')], ...mark })
    expect((await turn(marked))[1]?.content).toMatchObject(used)

    const thinking_blocks = [{ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }]
    const thought = assistant([text('', mark)], {
      thinking_blocks,
      tool_calls: [call('a'), call('b')],
    })
    expect(await turn(thought)).toMatchObject([
      { content: [{ text: '1' }, point] },
      { content: [{ reasoningContent: {} }, ...used.slice(0, 2)] },
      {},
    ])
  })

  test('a mark on a tool becomes a cache point behind it, on Claude', async () => {
    const tool = (name: string, more: object = {}) => ({
      type: 'function',
      function: { name, ...more },
    })
    const { chat, upstream } = await bedrockGateway()
    upstream.always(json(answered([{ text: 'Hi' }])))
    const readTools = async (fields: object) => {
      await chat({ model: 'm', messages: [user('1')], ...fields })
      return (upstream.body() as { toolConfig: { tools: unknown } }).toolConfig.tools
    }
    const tools = [tool('f'), tool('g', mark)]
    const [f, g] = [{ toolSpec: { name: 'f' } }, { toolSpec: { name: 'g' } }]
    expect(await readTools({ tools })).toMatchObject([f, g, point])
    // The mark of a tool that is not offered moves to the tool before it.
    const allowed_tools = { mode: 'auto', tools: [tool('f')] }
    const tool_choice = { type: 'allowed_tools', allowed_tools }
    expect(await readTools({ tools, tool_choice })).toMatchObject([f, point])
  })
})

describe('guarded texts', () => {
  const guarded = (more: object = {}) => ({ type: 'guarded_text', text: 'Is it legal?', ...more })
  const block = (more: object = {}) => ({
    guardContent: { text: { text: 'Is it legal?', ...more } },
  })

  test('they are blocks for the guardrail, in questions and in instructions', async () => {
    const messages = [
      { role: 'system', content: [text('S'), guarded({ qualifiers: ['grounding_source'] })] },
      user([text('1'), guarded({ cache_control: { type: 'ephemeral' } })]),
    ]
    expect(await sendMessages(messages)).toEqual({
      system: [{ text: 'S' }, block({ qualifiers: ['grounding_source'] })],
      messages: [
        { role: 'user', content: [{ text: '1' }, block(), { cachePoint: { type: 'default' } }] },
      ],
    })
  })

  test.each([
    [[user('1'), assistant([guarded()])], 'messages.1.content.0'],
    [
      [user('1'), assistant(null, { tool_calls: [call('a')] }), result('a', [guarded()])],
      'messages.2.content.0',
    ],
    [[user([{ type: 'guarded_text' }])], 'messages.0.content.0.text'],
    [[user([guarded({ qualifiers: 'query' })])], 'messages.0.content.0.qualifiers'],
  ])('%j is refused', async (messages, param) => {
    expect(await refuseMessages(messages)).toEqual({ code: 'LM-1001', param })
  })
})

test('the status of a call that failed is sent to Claude and Nova', async () => {
  const failed = result('a', 'timeout', { is_error: true })
  const messages = [user('1'), assistant(null, { tool_calls: [call('a')] }), failed]
  for (const model of [sonnet, nova]) {
    expect(await sendMessages(messages, model)).toMatchObject({
      messages: [{}, {}, { content: [{ toolResult: { status: 'error' } }] }],
    })
  }
  expect(JSON.stringify(await sendMessages(messages, llama))).not.toContain('status')
})
