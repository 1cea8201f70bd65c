import { describe, expect, test } from 'vitest'
import {
  asking,
  called,
  filesApiUrl,
  imagePart,
  newerModel,
  refused,
  sent,
  sentPart,
  userSays,
} from './support.ts'

describe('roles', () => {
  test('instructions keep their order wherever they stand', async () => {
    const { systemInstruction, contents } = await sent(
      asking({
        messages: [
          { role: 'system', content: 'One.' },
          { role: 'user', content: 'Hi' },
          { role: 'developer', content: [{ type: 'text', text: 'Two.' }] },
          { role: 'system', content: '' },
        ],
      }),
    )
    expect(systemInstruction).toEqual({ parts: [{ text: 'One.' }, { text: 'Two.' }] })
    expect(contents).toEqual([{ role: 'user', parts: [{ text: 'Hi' }] }])
  })

  test('instructions that are no text are refused', async () => {
    const messages = [
      { role: 'system', content: [imagePart('data:image/png;base64,AAAA')] },
      { role: 'user', content: 'Hi' },
    ]
    expect(await refused(asking({ messages }))).toMatchObject({
      code: 'LM-1001',
      param: 'messages.0.content.0',
    })
  })

  test('a Gemma model reads instructions as the first words of the user', async () => {
    const messages = [
      { role: 'system', content: 'One.' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: 'Hi' },
      { role: 'system', content: 'Two.' },
    ]
    const body = await sent(asking({ messages }), { upstreamId: 'gemma-3-27b-it' })
    expect(body).not.toHaveProperty('systemInstruction')
    expect(body.contents).toEqual([
      { role: 'model', parts: [{ text: 'Hello' }] },
      { role: 'user', parts: [{ text: 'One.\n\nTwo.\n\n' }, { text: 'Hi' }] },
    ])
  })

  test('a Gemma model whose user says nothing still reads its instructions', async () => {
    const messages = [
      { role: 'system', content: 'One.' },
      { role: 'assistant', content: 'Hello' },
    ]
    const { contents } = await sent(asking({ messages }), { upstreamId: 'gemma-3-27b-it' })
    expect(contents[0]).toEqual({ role: 'user', parts: [{ text: 'One.\n\n' }] })
  })

  test('beside instructions an empty text of the user is sent as it is', async () => {
    const messages = [
      { role: 'system', content: 'One.' },
      { role: 'user', content: '' },
    ]
    expect(await sent(asking({ messages }))).toMatchObject({
      systemInstruction: { parts: [{ text: 'One.' }] },
      contents: [{ role: 'user', parts: [{ text: '' }] }],
    })
    const gemma = await sent(asking({ messages }), { upstreamId: 'gemma-3-27b-it' })
    expect(gemma.contents).toEqual([{ role: 'user', parts: [{ text: 'One.\n\n' }] }])
  })

  test('messages that a dropped one has parted become one content', async () => {
    const messages = [
      { role: 'user', content: 'A' },
      { role: 'assistant', content: '' },
      { role: 'user', content: 'B' },
    ]
    const { contents } = await sent(asking({ messages }))
    expect(contents).toEqual([{ role: 'user', parts: [{ text: 'A' }, { text: 'B' }] }])
  })

  test('white space is content, nothing is none', async () => {
    expect(await sentPart({ type: 'text', text: ' ' })).toEqual({ text: ' ' })
    expect(await refused(userSays({ type: 'text', text: '' }))).toMatchObject({
      code: 'LM-1001',
      param: 'messages',
    })
  })

  test('a conversation may end with words of the model', async () => {
    const messages = [
      { role: 'user', content: 'Count' },
      { role: 'assistant', content: 'One, two,' },
    ]
    const { contents } = await sent(asking({ messages }))
    expect(contents.at(-1)).toEqual({ role: 'model', parts: [{ text: 'One, two,' }] })
  })

  test('a refusal comes back as text', async () => {
    const messages = [
      { role: 'user', content: 'A' },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      { role: 'user', content: 'B' },
    ]
    const { contents } = await sent(asking({ messages }))
    expect(contents[1]).toEqual({ role: 'model', parts: [{ text: 'No.' }] })
  })
})
describe('calls and results', () => {
  const city = { function: { name: 'weather', arguments: '{"city":"Oslo","n":1}' } }

  test('older models pair results by order and get no ids', async () => {
    const { contents } = await sent(
      called(
        [city, {}],
        [
          { tool_call_id: 'c1', content: 'b' },
          { tool_call_id: 'c0', content: 'a' },
        ],
      ),
    )
    expect(contents.slice(1)).toEqual([
      {
        role: 'model',
        parts: [
          { functionCall: { name: 'weather', args: { city: 'Oslo', n: 1 } } },
          { functionCall: { name: 'f1', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'weather', response: { output: 'a' } } },
          { functionResponse: { name: 'f1', response: { output: 'b' } } },
        ],
      },
    ])
  })

  test('an empty text beside a call is no part', async () => {
    const { messages } = called([{}], []) as { messages: object[] }
    const [question, calling] = messages
    const { contents } = await sent(asking({ messages: [question, { ...calling, content: '' }] }))
    expect(contents[1]?.parts).toEqual([{ functionCall: { name: 'f0', args: {} } }])
  })

  test('newer models get the same id on call and result', async () => {
    const { contents } = await sent(
      called([city], [{ tool_call_id: 'c0', content: 'a' }]),
      newerModel,
    )
    expect(contents[1]?.parts[0]).toMatchObject({ functionCall: { id: 'c0' } })
    expect(contents[2]?.parts[0]).toMatchObject({ functionResponse: { id: 'c0' } })
  })

  test.each(['[1,2]', '42', '{"error":"none"}', ''])(
    'a result is told verbatim: %j',
    async (content) => {
      const { contents } = await sent(called([{}], [{ tool_call_id: 'c0', content }]))
      expect(contents[2]?.parts).toEqual([
        { functionResponse: { name: 'f0', response: { output: content } } },
      ])
    },
  )

  test('texts of one result are joined', async () => {
    const content = [
      { type: 'text', text: '4' },
      { type: 'text', text: ' C' },
    ]
    const { contents } = await sent(called([{}], [{ tool_call_id: 'c0', content }]))
    expect(contents[2]?.parts[0]).toMatchObject({
      functionResponse: { response: { output: '4 C' } },
    })
  })

  test('words of the user after results are a content of their own', async () => {
    const request = called([{}], [{ tool_call_id: 'c0', content: 'a' }]) as { messages: object[] }
    const messages = [...request.messages, { role: 'user', content: 'And?' }]
    const { contents } = await sent({ ...request, messages })
    expect(contents.map(({ role, parts }) => [role, parts.length])).toEqual([
      ['user', 1],
      ['model', 1],
      ['user', 1],
      ['user', 1],
    ])
  })

  test('a late result finds its function; a number used again means the nearest call', async () => {
    const call = (id: string, name: string) => ({
      role: 'assistant',
      tool_calls: [{ id, type: 'function', function: { name, arguments: '' } }],
    })
    const { contents } = await sent(
      asking({
        messages: [
          { role: 'user', content: 'Go' },
          call('x', 'early'),
          { role: 'tool', tool_call_id: 'x', content: '1' },
          call('late', 'slow'),
          { role: 'assistant', content: 'Wait.' },
          { role: 'user', content: 'Well?' },
          { role: 'tool', tool_call_id: 'late', content: '2' },
          call('x', 'again'),
          { role: 'tool', tool_call_id: 'x', content: '3' },
        ],
      }),
    )
    const results = contents.flatMap(({ parts }) => parts.map((part) => part['functionResponse']))
    expect(results.filter(Boolean)).toEqual([
      { name: 'early', response: { output: '1' } },
      { name: 'slow', response: { output: '2' } },
      { name: 'again', response: { output: '3' } },
    ])
  })

  test('a result whose call was cut away names its function itself, or is refused', async () => {
    const result = { role: 'tool', tool_call_id: 'gone', content: '1' }
    const { contents } = await sent(asking({ messages: [{ ...result, name: 'f' }] }))
    expect(contents[0]?.parts[0]).toMatchObject({ functionResponse: { name: 'f' } })
    expect(await refused(asking({ messages: [result] }))).toMatchObject({
      code: 'LM-1001',
      param: 'messages.0.tool_call_id',
    })
  })

  test.each(['{"city":"Pa', '[1]', '"text"'])(
    'arguments that are no object stay in the history as their text: %s',
    async (text) => {
      const { contents } = await sent(called([{ function: { name: 'f', arguments: text } }], []))
      expect(contents[1]?.parts).toMatchObject([
        { functionCall: { name: 'f', args: { rawInvalidInput: text } } },
      ])
    },
  )

  test('arguments may come as the object that they mean', async () => {
    const { contents } = await sent(called([{ function: { name: 'f', arguments: { a: 1 } } }], []))
    expect(contents[1]?.parts[0]).toMatchObject({ functionCall: { name: 'f', args: { a: 1 } } })
  })

  test('the legacy form of calls and results is understood', async () => {
    const { contents } = await sent(
      asking({
        messages: [
          { role: 'user', content: 'Go' },
          { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
          { role: 'function', name: 'f', content: 'done' },
        ],
      }),
    )
    expect(contents.slice(1)).toEqual([
      { role: 'model', parts: [{ functionCall: { name: 'f', args: { a: 1 } } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: 'done' } } }] },
    ])
  })

  const picture = {
    tool_call_id: 'c0',
    content: [{ type: 'text', text: 'see' }, imagePart('data:image/png;base64,iVBO')],
  }

  test('an image in a result goes to newer models', async () => {
    const { contents } = await sent(called([{}], [picture]), newerModel)
    expect(contents[2]?.parts).toEqual([
      {
        functionResponse: {
          id: 'c0',
          name: 'f0',
          response: { output: 'see' },
          parts: [{ inlineData: { mimeType: 'image/png', data: 'iVBO' } }],
        },
      },
    ])
  })

  test('documents and references in a result go to newer models', async () => {
    const content = [
      { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBE' } },
      imagePart('gs://b/cat.png'),
      { type: 'file', file: { file_id: 'files/abc-123' } },
    ]
    const { contents } = await sent(called([{}], [{ tool_call_id: 'c0', content }]), newerModel)
    expect(contents[2]?.parts).toMatchObject([
      {
        functionResponse: {
          parts: [
            { inlineData: { mimeType: 'application/pdf', data: 'JVBE' } },
            { fileData: { fileUri: 'gs://b/cat.png', mimeType: 'image/png' } },
            { fileData: { fileUri: filesApiUrl } },
          ],
        },
      },
    ])
  })

  test('an image in a result for an older model is refused', async () => {
    expect(await refused(called([{}], [picture]))).toMatchObject({
      code: 'LM-1001',
      param: 'messages.2.content.1',
    })
  })
})
