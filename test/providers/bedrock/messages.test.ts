import { describe, expect, test } from 'vitest'
import { json } from '../../support/scripted-upstream.ts'
import { bedrockGateway, refuseMessages, sendMessages } from './support.ts'

const mistral = 'mistral.mistral-large-2402-v1:0'

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
const image = (url: string) => ({ type: 'image_url', image_url: { url } })

describe('turns', () => {
  test('instructions anywhere in the conversation are collected into system', async () => {
    expect(
      await sendMessages([
        { role: 'system', content: [text('A'), text(' '), text('B')] },
        user('1'),
        { role: 'developer', content: 'C' },
        user('2'),
      ]),
    ).toEqual({
      system: [{ text: 'A' }, { text: 'B' }, { text: 'C' }],
      messages: [{ role: 'user', content: [{ text: '1' }, { text: '2' }] }],
    })
  })

  test('neighbours of the same role become one turn', async () => {
    const { messages } = await sendMessages([
      user('1'),
      assistant('2'),
      assistant(' '),
      user(''),
      assistant('3'),
      user([text('4'), text('')]),
    ])
    expect(messages).toEqual([
      { role: 'user', content: [{ text: '1' }] },
      { role: 'assistant', content: [{ text: '2' }, { text: '3' }] },
      { role: 'user', content: [{ text: '4' }] },
    ])
  })

  test('a user turn opens the conversation, and a prefill loses its trailing white space', async () => {
    const { messages } = await sendMessages([assistant('Once'), user('and'), assistant('then \n')])
    expect(messages).toEqual([
      { role: 'user', content: [{ text: '.' }] },
      { role: 'assistant', content: [{ text: 'Once' }] },
      { role: 'user', content: [{ text: 'and' }] },
      { role: 'assistant', content: [{ text: 'then' }] },
    ])
  })

  test('a past refusal is sent back as text', async () => {
    const { messages } = await sendMessages([
      user('1'),
      assistant(null, { refusal: 'No.' }),
      user('2'),
      assistant([{ type: 'refusal', refusal: 'No, no.' }]),
      user('3'),
    ])
    expect(messages[1]?.content).toEqual([{ text: 'No.' }])
    expect(messages[3]?.content).toEqual([{ text: 'No, no.' }])
  })

  test('messages without content become a user turn', async () => {
    const messages = [{ role: 'user', content: [{ text: '.' }] }]
    expect(await sendMessages([user(' '), assistant('')])).toEqual({ messages })
    const instructions = { role: 'system', content: 'Only this' }
    const system = [{ text: 'Only this' }]
    expect(await sendMessages([instructions])).toEqual({ system, messages })
    expect(await sendMessages([instructions, user([])])).toEqual({ system, messages })
  })
})

describe('calls and results', () => {
  test('the results of parallel calls come first in one turn', async () => {
    const { messages } = await sendMessages([
      user('1'),
      assistant('', { tool_calls: [call('a'), call('b')] }),
      user('also'),
      result('b', [text('B'), text(' ')]),
      result('a', ''),
      user('this'),
    ])
    expect(messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { toolUse: { toolUseId: 'a', name: 'f', input: {} } },
          { toolUse: { toolUseId: 'b', name: 'f', input: {} } },
        ],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'b', content: [{ text: 'B' }] } },
          { toolResult: { toolUseId: 'a', content: [{ text: '.' }] } },
          { text: 'also' },
          { text: 'this' },
        ],
      },
    ])
  })

  test('images of results are behind all results for a model that takes only text in them', async () => {
    const block = { image: { format: 'webp', source: { bytes: 'AAAA' } } }
    const part = image('data:image/webp;base64,AAAA')
    const body = await sendMessages(
      [
        user('1'),
        assistant('', { tool_calls: [call('a'), call('b')] }),
        result('a', [text('See'), part]),
        result('b', [part]),
        user('So?'),
      ],
      'meta.llama4-scout-17b-instruct-v1:0',
    )
    const note = { text: 'The files of this result are behind the results.' }
    const heading = (id: string) => ({ text: `The files of the tool result ${id}:` })
    expect(body.messages[2]?.content).toEqual([
      { toolResult: { toolUseId: 'a', content: [{ text: 'See' }, note] } },
      { toolResult: { toolUseId: 'b', content: [note] } },
      heading('a'),
      block,
      heading('b'),
      block,
      { text: 'So?' },
    ])
  })

  test('a tool result may be an image', async () => {
    const { messages } = await sendMessages([
      user('1'),
      assistant('', { tool_calls: [call('a')] }),
      result('a', [text('See'), image('data:image/webp;base64,AAAA')]),
    ])
    const content = [{ text: 'See' }, { image: { format: 'webp', source: { bytes: 'AAAA' } } }]
    expect(messages[2]?.content).toEqual([{ toolResult: { toolUseId: 'a', content } }])
  })

  test.each([
    ['', {}],
    [' \n', {}],
    ['null', {}],
    ['{"a":[1]}', { a: [1] }],
    ['{"a":', { rawInvalidInput: '{"a":' }],
    ['[1]', { rawInvalidInput: '[1]' }],
  ])('arguments %j become the input %j', async (given, input) => {
    const { messages } = await sendMessages([
      user('1'),
      assistant('', { tool_calls: [call('a', given)] }),
      result('a', '1'),
    ])
    expect(messages[1]?.content[0]?.toolUse?.input).toEqual(input)
  })

  test('a strict provider refuses arguments that are not an object', async () => {
    const messages = [user('1'), assistant('', { tool_calls: [call('a', '[')] }), result('a', '1')]
    expect(await refuseMessages(messages, true)).toEqual({
      code: 'LM-1001',
      param: 'messages.1.tool_calls.0.function.arguments',
    })
  })

  test('a past call with a name that Converse rejects gets another name', async () => {
    const { messages } = await sendMessages([
      user('1'),
      assistant('', { tool_calls: [call('a', '{}', 'f g')] }),
      result('a', 'x'),
    ])
    expect(messages[1]).toMatchObject({
      content: [{ toolUse: { name: expect.stringMatching(/^f_g_[0-9a-f]{10}$/) } }],
    })
  })

  /** Returns the upstream ids of calls and results, for one turn per id. */
  async function readIds(
    ids: readonly string[],
    model?: string,
  ): Promise<(string | undefined)[][]> {
    const turns = ids.flatMap((id) => [assistant('', { tool_calls: [call(id)] }), result(id, '1')])
    const { messages } = await sendMessages([user('1'), ...turns], model)
    const contents = messages.map(({ content }) => content)
    return [
      contents.flatMap((blocks) => blocks.flatMap(({ toolUse }) => toolUse?.toolUseId ?? [])),
      contents.flatMap((blocks) => blocks.flatMap(({ toolResult }) => toolResult?.toolUseId ?? [])),
    ]
  }

  test('ids become valid and unique, and results keep the ids of their calls', async () => {
    const long = 'x'.repeat(65)
    const [calls, results] = await readIds([
      'call_1',
      'a:b',
      'a_b',
      'a.b',
      long,
      `${long}y`,
      'call_1',
    ])
    expect(results).toEqual(calls)
    expect(new Set(calls).size).toBe(7)
    for (const id of calls ?? []) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(calls?.slice(0, 2)).toEqual(['call_1', 'a_b'])
    expect(await readIds(['a:b', long])).toEqual(await readIds(['a:b', long]))
  })

  test('ids of Kimi go back to Kimi unchanged', async () => {
    const ids = ['functions.get_temperature:0', 'functions.get_temperature:1', 'a b']
    const kept = [...ids.slice(0, 2), 'a_b']
    expect(await readIds(ids, 'moonshotai.kimi-k2.5')).toEqual([kept, kept])
  })

  test('ids become nine letters or digits for Mistral', async () => {
    const [calls, results] = await readIds(['call_1', 'call_2', 'call_1'], mistral)
    expect(results).toEqual(calls)
    expect(new Set(calls).size).toBe(3)
    for (const id of calls ?? []) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/)
  })

  test('ids of Mistral go back to Mistral unchanged', async () => {
    const ids = ['D681PevKs', 'abcXYZ019']
    expect(await readIds(ids, mistral)).toEqual([ids, ids])
  })
})

test('a request that this link cannot express goes to the next link', async () => {
  const { chat, upstream } = await bedrockGateway({
    more: `
[[providers]]
name = "q"
kind = "openai"
base_url = "https://other.test/v1"
[[providers.models]]
id = "other"
modalities = ["text", "image"]
fallbacks = ["m"]`,
  })
  upstream.next(json({ choices: [{ message: { role: 'assistant', content: 'Hi' } }] }))
  const content = [image('data:image/tiff;base64,AAAA')]
  const response = await chat({ model: 'other', messages: [user(content)] })
  expect(response.status).toBe(200)
})
