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
} from './support.ts'

describe('roles', () => {
  test('system and developer messages become the system instruction in their order', async () => {
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

  test('a system message with an image is refused', async () => {
    const messages = [
      { role: 'system', content: [imagePart('data:image/png;base64,AAAA')] },
      { role: 'user', content: 'Hi' },
    ]
    expect(await refused(asking({ messages }))).toMatchObject({
      code: 'LM-1001',
      param: 'messages.0.content.0',
    })
  })

  test('a Gemma model gets the instructions before the first user text', async () => {
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

  test('a Gemma model gets the instructions even when the user text is empty', async () => {
    const messages = [
      { role: 'system', content: 'One.' },
      { role: 'assistant', content: 'Hello' },
    ]
    const { contents } = await sent(asking({ messages }), { upstreamId: 'gemma-3-27b-it' })
    expect(contents[0]).toEqual({ role: 'user', parts: [{ text: 'One.\n\n' }] })
  })

  test('the instructions beside an empty user text are sent as the text of the user', async () => {
    const messages = [
      { role: 'system', content: 'One.' },
      { role: 'user', content: '' },
    ]
    const body = await sent(asking({ messages }))
    expect(body.contents).toEqual([{ role: 'user', parts: [{ text: 'One.' }] }])
    expect(body).not.toHaveProperty('systemInstruction')
    const gemma = await sent(asking({ messages }), { upstreamId: 'gemma-3-27b-it' })
    expect(gemma.contents).toEqual([{ role: 'user', parts: [{ text: 'One.' }] }])
  })

  test('messages around an empty one are merged into one content', async () => {
    const messages = [
      { role: 'user', content: 'A' },
      { role: 'assistant', content: '' },
      { role: 'user', content: 'B' },
    ]
    const { contents } = await sent(asking({ messages }))
    expect(contents).toEqual([{ role: 'user', parts: [{ text: 'A' }, { text: 'B' }] }])
  })

  test('white space counts as content, an empty text does not', async () => {
    expect(await sentPart({ type: 'text', text: ' ' })).toEqual({ text: ' ' })
    expect(await sentPart({ type: 'text', text: '' })).toEqual({ text: '.' })
  })

  test('a conversation that begins with a call gets a user text before it', async () => {
    const calls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }]
    const messages = [
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', tool_call_id: 'c', content: 'x' },
    ]
    const { contents } = await sent(asking({ messages }))
    expect(contents[0]).toEqual({ role: 'user', parts: [{ text: '.' }] })
    expect(contents).toHaveLength(3)
  })

  test('a conversation may end with an assistant message', async () => {
    const messages = [
      { role: 'user', content: 'Count' },
      { role: 'assistant', content: 'One, two,' },
    ]
    const { contents } = await sent(asking({ messages }))
    expect(contents.at(-1)).toEqual({ role: 'model', parts: [{ text: 'One, two,' }] })
  })

  test('an earlier refusal is sent as text', async () => {
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

  test('models before 3.0 get no call ids, and results in the order of the calls', async () => {
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

  test('an empty text beside a call is left out', async () => {
    const { messages } = called([{}], []) as { messages: object[] }
    const [question, calling] = messages
    const { contents } = await sent(asking({ messages: [question, { ...calling, content: '' }] }))
    expect(contents[1]?.parts).toEqual([{ functionCall: { name: 'f0', args: {} } }])
  })

  test('models from 3.0 on get the same id on the call and its result', async () => {
    const { contents } = await sent(
      called([city], [{ tool_call_id: 'c0', content: 'a' }]),
      newerModel,
    )
    expect(contents[1]?.parts[0]).toMatchObject({ functionCall: { id: 'c0' } })
    expect(contents[2]?.parts[0]).toMatchObject({ functionResponse: { id: 'c0' } })
  })

  test.each(['[1,2]', '42', '{"error":"none"}', ''])(
    'the text of a result is sent unchanged: %j',
    async (content) => {
      const { contents } = await sent(called([{}], [{ tool_call_id: 'c0', content }]))
      expect(contents[2]?.parts).toEqual([
        { functionResponse: { name: 'f0', response: { output: content } } },
      ])
    },
  )

  test('the texts of one result are joined', async () => {
    const content = [
      { type: 'text', text: '4' },
      { type: 'text', text: ' C' },
    ]
    const { contents } = await sent(called([{}], [{ tool_call_id: 'c0', content }]))
    expect(contents[2]?.parts[0]).toMatchObject({
      functionResponse: { response: { output: '4 C' } },
    })
  })

  test('user text after tool results is a separate content', async () => {
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

  test('a late result gets the name of its function, and a reused id refers to the latest call', async () => {
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

  test('a result without its call must have a name of its own, otherwise it is refused', async () => {
    const result = { role: 'tool', tool_call_id: 'gone', content: '1' }
    const { contents } = await sent(asking({ messages: [{ ...result, name: 'f' }] }))
    expect(contents[0]?.parts[0]).toMatchObject({ functionResponse: { name: 'f' } })
    expect(await refused(asking({ messages: [result] }))).toMatchObject({
      code: 'LM-1001',
      param: 'messages.0.tool_call_id',
    })
  })

  test.each(['{"city":"Pa', '[1]', '"text"'])(
    'past arguments that are not an object are kept as text: %s',
    async (text) => {
      const { contents } = await sent(called([{ function: { name: 'f', arguments: text } }], []))
      expect(contents[1]?.parts).toMatchObject([
        { functionCall: { name: 'f', args: { rawInvalidInput: text } } },
      ])
    },
  )

  test('past arguments may be an object instead of its JSON text', async () => {
    const { contents } = await sent(called([{ function: { name: 'f', arguments: { a: 1 } } }], []))
    expect(contents[1]?.parts[0]).toMatchObject({ functionCall: { name: 'f', args: { a: 1 } } })
  })

  test('the legacy function_call and function messages are translated', async () => {
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

  test('an image in a tool result is sent to models from 3.0 on', async () => {
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

  test('documents and file references in a tool result are sent to models from 3.0 on', async () => {
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

  test('an image in a tool result is refused for models before 3.0', async () => {
    expect(await refused(called([{}], [picture]))).toMatchObject({
      code: 'LM-1001',
      param: 'messages.2.content.1',
    })
  })
})

test('the result of a call that failed is an error', async () => {
  const { contents } = await sent(
    called([{}], [{ tool_call_id: 'c0', content: 'timeout', is_error: true }]),
  )
  expect(contents.at(-1)?.parts).toMatchObject([
    { functionResponse: { response: { error: 'timeout' } } },
  ])
})
