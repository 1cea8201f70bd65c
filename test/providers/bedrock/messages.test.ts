import { describe, expect, test } from 'vitest'
import { errorOf } from '../../support/gateway.ts'
import { json } from '../../support/scripted-upstream.ts'
import { answered, bedrockGateway, sonnet } from './support.ts'

const nova = 'us.amazon.nova-pro-v1:0'
const llama = 'us.meta.llama3-3-70b-instruct-v1:0'
const mistral = 'mistral.mistral-large-2402-v1:0'

interface Sent {
  readonly system?: unknown
  readonly messages: readonly { readonly role: string; readonly content: readonly Block[] }[]
}

interface Block {
  readonly toolUse?: { readonly toolUseId: string; readonly input: unknown }
  readonly toolResult?: { readonly toolUseId: string }
  readonly document?: { readonly name: string }
}

/** What these messages become. */
async function sent(messages: readonly object[], upstreamId = sonnet): Promise<Sent> {
  const { chat, upstream } = await bedrockGateway({ upstreamId })
  upstream.next(json(answered([{ text: 'Hi' }])))
  const response = await chat({ model: 'm', messages })
  expect(response.status, await response.clone().text()).toBe(200)
  // Every member that a test asks for is compared.
  const { system, messages: turns } = upstream.body() as Sent
  return { ...(system !== undefined && { system }), messages: turns }
}

/** The error that these messages meet before any call. */
async function refused(messages: readonly object[], strict = false): Promise<unknown> {
  const { chat, upstream } = await bedrockGateway({ strict })
  const response = await chat({ model: 'm', messages })
  expect(response.status).toBe(400)
  expect(upstream.requests).toEqual([])
  const { code, param } = await errorOf(response)
  return { code, param }
}

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
  test('instructions are collected from wherever they stand', async () => {
    expect(
      await sent([
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

  test('neighbours of one role become one', async () => {
    const { messages } = await sent([
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

  test('the user opens, and white space does not end', async () => {
    const { messages } = await sent([assistant('Once'), user('and'), assistant('then \n')])
    expect(messages).toEqual([
      { role: 'user', content: [{ text: '.' }] },
      { role: 'assistant', content: [{ text: 'Once' }] },
      { role: 'user', content: [{ text: 'and' }] },
      { role: 'assistant', content: [{ text: 'then' }] },
    ])
  })

  test('a refusal is what was said', async () => {
    const { messages } = await sent([
      user('1'),
      assistant(null, { refusal: 'No.' }),
      user('2'),
      assistant([{ type: 'refusal', refusal: 'No, no.' }]),
      user('3'),
    ])
    expect(messages[1]?.content).toEqual([{ text: 'No.' }])
    expect(messages[3]?.content).toEqual([{ text: 'No, no.' }])
  })

  test('that say nothing are refused', async () => {
    const expected = { code: 'LM-1001', param: 'messages' }
    expect(await refused([user(' '), assistant('')])).toEqual(expected)
    expect(await refused([{ role: 'system', content: 'Only this' }])).toEqual(expected)
  })
})

describe('calls and results', () => {
  test('results come first, in one turn', async () => {
    const { messages } = await sent([
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

  test('a result may be an image', async () => {
    const { messages } = await sent([
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
  ])('arguments %j become %j', async (given, input) => {
    const { messages } = await sent([
      user('1'),
      assistant('', { tool_calls: [call('a', given)] }),
      result('a', '1'),
    ])
    expect(messages[1]?.content[0]?.toolUse?.input).toEqual(input)
  })

  test('arguments that are none are refused by a strict provider', async () => {
    const messages = [user('1'), assistant('', { tool_calls: [call('a', '[')] }), result('a', '1')]
    expect(await refused(messages, true)).toEqual({
      code: 'LM-1001',
      param: 'messages.1.tool_calls.0.function.arguments',
    })
  })

  test('a name that Converse refuses is refused', async () => {
    const messages = [user('1'), assistant('', { tool_calls: [call('a', '{}', 'f g')] })]
    expect(await refused(messages)).toEqual({
      code: 'LM-1001',
      param: 'messages.1.tool_calls.0.function.name',
    })
  })

  /** The ids of calls and results in a conversation that uses these, one turn each. */
  async function idsOf(ids: readonly string[], model?: string): Promise<(string | undefined)[][]> {
    const turns = ids.flatMap((id) => [assistant('', { tool_calls: [call(id)] }), result(id, '1')])
    const { messages } = await sent([user('1'), ...turns], model)
    const contents = messages.map(({ content }) => content)
    return [
      contents.flatMap((blocks) => blocks.flatMap(({ toolUse }) => toolUse?.toolUseId ?? [])),
      contents.flatMap((blocks) => blocks.flatMap(({ toolResult }) => toolResult?.toolUseId ?? [])),
    ]
  }

  test('ids become legal, stay unique, and results keep to their calls', async () => {
    const long = 'x'.repeat(65)
    const [calls, results] = await idsOf([
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
    expect(await idsOf(['a:b', long])).toEqual(await idsOf(['a:b', long]))
  })

  test('ids that Kimi gives go back to it as they were', async () => {
    const ids = ['functions.get_temperature:0', 'functions.get_temperature:1', 'a b']
    const kept = [...ids.slice(0, 2), 'a_b']
    expect(await idsOf(ids, 'moonshotai.kimi-k2.5')).toEqual([kept, kept])
  })

  test('ids are nine letters or digits on Mistral', async () => {
    const [calls, results] = await idsOf(['call_1', 'call_2', 'call_1'], mistral)
    expect(results).toEqual(calls)
    expect(new Set(calls).size).toBe(3)
    for (const id of calls ?? []) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/)
  })

  test('ids that Mistral gives go back to it as they were', async () => {
    const ids = ['D681PevKs', 'abcXYZ019']
    expect(await idsOf(ids, mistral)).toEqual([ids, ids])
  })
})

describe('images and documents', () => {
  test.each([
    ['image/png', 'png'],
    ['IMAGE/JPG', 'jpeg'],
    ['image/jpeg;charset=x', 'jpeg'],
    ['image/gif', 'gif'],
  ])('%s is %s', async (type, format) => {
    const { messages } = await sent([user([image(`data:${type};base64,AA AA\n`)])])
    expect(messages[0]?.content).toEqual([{ image: { format, source: { bytes: 'AAAA' } } }])
  })

  test.each(['data:image/tiff;base64,AAAA', 'data:image/png,AAAA', 'ftp://x/y.png'])(
    '%s is refused',
    async (url) => {
      expect(await refused([user([text('1'), image(url)])])).toEqual({
        code: 'LM-1001',
        param: 'messages.0.content.1.image_url',
      })
    },
  )

  const file = (filename: string | undefined, data = 'data:application/pdf;base64,AAAA') => ({
    type: 'file',
    file: { filename, file_data: data },
  })

  test('names of documents are plain, and no two are alike', async () => {
    const names = [
      'Ünïcode\u3000report\t(v1.2)_final.pdf',
      'a.pdf',
      'a.csv',
      'a',
      '.pdf',
      undefined,
      `${'long '.repeat(60)}.pdf`,
      '[x]-(y) z.pdf',
    ]
    const { messages } = await sent([user([text('1'), ...names.map((name) => file(name))])])
    const documents = messages[0]?.content.slice(1).map(({ document }) => document?.name ?? '')
    expect(documents?.slice(0, 6)).toEqual([
      'n code report (v1 2) final',
      'a',
      'a (2)',
      'a (3)',
      'document-5',
      'document-6',
    ])
    expect(documents?.[7]).toBe('[x]-(y) z')
    for (const name of documents ?? []) expect(name).toMatch(/^[\w()[\]-]+(?: [\w()[\]-]+)*$/)
    expect(documents?.[6]?.length).toBeLessThanOrEqual(200)
  })

  test.each([
    ['application/pdf', 'x', 'pdf'],
    ['text/csv', 'x', 'csv'],
    ['text/markdown', 'x', 'md'],
    ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'x', 'docx'],
    ['application/vnd.ms-excel', 'x', 'xls'],
    ['application/octet-stream', 'notes.MD', 'md'],
  ])('%s is a document', async (type, name, format) => {
    const { messages } = await sent([user([text('1'), file(name, `data:${type};base64,AAAA`)])])
    expect(messages[0]?.content[1]).toMatchObject({ document: { format } })
  })

  test('a document never goes without a text', async () => {
    const { messages } = await sent([
      user([image('data:application/pdf;base64,AAAA')]),
      assistant('Ok.'),
      user([file('a.pdf'), text('Why?')]),
    ])
    expect(messages[0]?.content).toEqual([
      { document: { format: 'pdf', name: 'document-1', source: { bytes: 'AAAA' } } },
      { text: '.' },
    ])
    expect(messages[2]?.content).toHaveLength(2)
  })

  test.each([
    ['a type that is no document', file('a.zip', 'data:application/zip;base64,AAAA'), ''],
    ['no data URI', file('a.pdf', 'AAAA'), '.file.file_data'],
  ])('a file of %s is refused', async (_, part, field) => {
    expect(await refused([user([part])])).toEqual({
      code: 'LM-1001',
      param: `messages.0.content.0${field}`,
    })
  })

  test.each([
    ['a stored file', { type: 'file', file: { file_id: 'file-1' } }],
    ['audio', { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }],
    ['what nobody knows', { type: 'hologram' }],
  ])('%s is never left out, but refused', async (_, part) => {
    for (const strict of [false, true]) {
      expect(await refused([user([text('1'), part])], strict)).toEqual({
        code: 'LM-1001',
        param: 'messages.0.content.1',
      })
    }
  })

  test('nor is an image in an answer', async () => {
    const part = image('data:image/png;base64,AAAA')
    const messages = [user('1'), assistant([text('2'), part]), user('3')]
    expect(await refused(messages)).toMatchObject({ param: 'messages.1.content.1' })
  })
})

describe('cache marks', () => {
  const mark = { cache_control: { type: 'ephemeral' } }
  const point = { cachePoint: { type: 'default' } }

  test('are blocks of their own behind what they mark, on Claude and Nova', async () => {
    const messages = [
      { role: 'system', content: 'S', ...mark },
      user([text('1', mark), text(' ', mark)]),
      assistant([text('2', mark)], { tool_calls: [call('a')] }),
      result('a', [text('3', mark)]),
    ]
    for (const model of [sonnet, nova]) {
      expect(await sent(messages, model)).toMatchObject({
        system: [{ text: 'S' }, point],
        messages: [
          { content: [{ text: '1' }, point] },
          { content: [{ text: '2' }, point, { toolUse: {} }] },
          { content: [{ toolResult: { content: [{ text: '3' }] } }, point] },
        ],
      })
    }
    expect(JSON.stringify(await sent(messages, llama))).not.toContain('cachePoint')
  })

  test('do not follow a document that is text', async () => {
    const marked = (type: string) => ({
      type: 'file',
      file: { file_data: `data:${type};base64,AAAA` },
      ...mark,
    })
    const { messages } = await sent([
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

  test('of a blank text move behind the block before it, whosever it is', async () => {
    const blank = text(' ', mark)
    expect(await sent([user([text('1'), blank, text('2')])])).toMatchObject({
      messages: [{ content: [{ text: '1' }, point, { text: '2' }] }],
    })
    expect(await sent([user('1'), assistant('2'), user([blank, text('3')])])).toMatchObject({
      messages: [
        { content: [{ text: '1' }] },
        { content: [{ text: '2' }, point] },
        { content: [{ text: '3' }] },
      ],
    })
    const system = { role: 'system', content: 'S' }
    expect(await sent([system, user([blank, text('1')])])).toEqual({
      system: [{ text: 'S' }, point],
      messages: [{ role: 'user', content: [{ text: '1' }] }],
    })
    expect(await sent([user([blank, text('1')])])).toEqual({
      messages: [{ role: 'user', content: [{ text: '1' }] }],
    })
  })

  test('stand behind calls, and behind no reasoning', async () => {
    const calls = [call('a'), { ...call('b'), ...mark }]
    const results = [result('a', '1'), result('b', '2')]
    const used = [{ toolUse: { toolUseId: 'a' } }, { toolUse: { toolUseId: 'b' } }, point]
    const turn = async (said: object) => (await sent([user('1'), said, ...results])).messages
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

  test('stand behind tools, on Claude', async () => {
    const tool = (name: string, more: object = {}) => ({
      type: 'function',
      function: { name, ...more },
    })
    const { chat, upstream } = await bedrockGateway()
    upstream.always(json(answered([{ text: 'Hi' }])))
    const toolsOf = async (fields: object) => {
      await chat({ model: 'm', messages: [user('1')], ...fields })
      return (upstream.body() as { toolConfig: { tools: unknown } }).toolConfig.tools
    }
    const tools = [tool('f'), tool('g', mark)]
    const [f, g] = [{ toolSpec: { name: 'f' } }, { toolSpec: { name: 'g' } }]
    expect(await toolsOf({ tools })).toMatchObject([f, g, point])
    // A tool that is not sent leaves its mark to the one before it.
    const allowed_tools = { mode: 'auto', tools: [tool('f')] }
    const tool_choice = { type: 'allowed_tools', allowed_tools }
    expect(await toolsOf({ tools, tool_choice })).toMatchObject([f, point])
  })
})

test('what cannot be said here does not stand in the way of another link', async () => {
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
