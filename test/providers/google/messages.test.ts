import { describe, expect, test } from 'vitest'
import { asking, called, refused, sent } from './support.ts'

const newer = { upstreamId: 'gemini-3.5-flash' }

function userSays(...content: object[]): object {
  return asking({ messages: [{ role: 'user', content }] })
}

function image(url: string, more: object = {}): object {
  return { type: 'image_url', image_url: { url, ...more } }
}

async function partSent(part: object) {
  const { contents } = await sent(userSays(part))
  return contents[0]?.parts[0]
}

const filesApi = 'https://generativelanguage.googleapis.com/v1beta/files/abc-123'

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
      { role: 'system', content: [image('data:image/png;base64,AAAA')] },
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
    expect(await partSent({ type: 'text', text: ' ' })).toEqual({ text: ' ' })
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

describe('parts', () => {
  test.each([
    ['data:image/jpg;base64,/9j/', 'image/jpeg', '/9j/'],
    ['data:;base64,/9j/', 'image/jpeg', '/9j/'],
    ['data:image/PNG;charset=utf-8;base64,iVBO', 'image/png', 'iVBO'],
    ['data:image/webp;base64,UklG\r\n Rg==', 'image/webp', 'UklGRg=='],
  ])('%j is an image of type %s', async (url, mimeType, data) => {
    expect(await partSent(image(url))).toEqual({ inlineData: { mimeType, data } })
  })

  test('an address may stand in place of the object around it', async () => {
    const part = { type: 'image_url', image_url: 'data:image/png;base64,iVBO' }
    expect(await partSent(part)).toEqual({ inlineData: { mimeType: 'image/png', data: 'iVBO' } })
  })

  test.each([
    ['gs://b/dir/cat.PNG', { fileUri: 'gs://b/dir/cat.PNG', mimeType: 'image/png' }],
    ['gs://b/clip.mov?x=1', { fileUri: 'gs://b/clip.mov?x=1', mimeType: 'video/mov' }],
    ['gs://b/blob', { fileUri: 'gs://b/blob' }],
    ['gs://b/v1.2/blob', { fileUri: 'gs://b/v1.2/blob' }],
    [filesApi, { fileUri: filesApi }],
    ['files/abc-123', { fileUri: filesApi }],
  ])('%s is a file of Google’s', async (url, fileData) => {
    expect(await partSent(image(url))).toEqual({ fileData })
  })

  test.each(['format', 'mime_type'])('%s tells the type of a file', async (field) => {
    expect(await partSent(image('gs://b/cat.png', { [field]: 'image/heic' }))).toEqual({
      fileData: { fileUri: 'gs://b/cat.png', mimeType: 'image/heic' },
    })
  })

  test('a file is sent as its data', async () => {
    const file = { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' }
    expect(await partSent({ type: 'file', file })).toEqual({
      inlineData: { mimeType: 'application/pdf', data: 'JVBE' },
    })
  })

  test.each<[object, object]>([
    [{ file_id: 'gs://b/a.pdf' }, { fileUri: 'gs://b/a.pdf', mimeType: 'application/pdf' }],
    [
      { file_data: 'gs://b/a', format: 'text/plain' },
      { fileUri: 'gs://b/a', mimeType: 'text/plain' },
    ],
    [{ file_id: 'files/abc-123' }, { fileUri: filesApi }],
    [{ file_id: filesApi }, { fileUri: filesApi }],
  ])('a file %j is a reference to one that Google stores', async (file, fileData) => {
    expect(await partSent({ type: 'file', file })).toEqual({ fileData })
  })

  test('spoken input is sent by its format', async () => {
    const part = { type: 'input_audio', input_audio: { data: 'SUQz', format: 'mp3' } }
    expect(await partSent(part)).toEqual({ inlineData: { mimeType: 'audio/mp3', data: 'SUQz' } })
  })

  test.each([
    ['percent-encoded data', image('data:image/svg+xml,%3Csvg%3E'), '.image_url'],
    ['an address of no kind', image('cat.png'), '.image_url'],
    ['a stored file', { type: 'file', file: { file_id: 'file-1' } }, ''],
    ['a file without a type', { type: 'file', file: { file_data: 'data:;base64,AA' } }, '.file'],
    ['an unknown part', { type: 'hologram' }, ''],
  ])('%s is refused', async (_, part, field) => {
    const request = userSays({ type: 'text', text: 'x' }, part)
    expect(await refused(request)).toMatchObject({
      code: 'LM-1001',
      param: `messages.0.content.1${field}`,
    })
  })

  test('an address on the web is refused with LM-2004', async () => {
    const request = userSays(image('https://example.com/cat.png'))
    expect((await refused(request))['code']).toBe('LM-2004')
  })

  test('a file of another vendor is refused with LM-2008', async () => {
    const request = userSays(image('anthropic-file:file_1'))
    expect((await refused(request))['code']).toBe('LM-2008')
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
    const { contents } = await sent(called([city], [{ tool_call_id: 'c0', content: 'a' }]), newer)
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
    content: [{ type: 'text', text: 'see' }, image('data:image/png;base64,iVBO')],
  }

  test('an image in a result goes to newer models', async () => {
    const { contents } = await sent(called([{}], [picture]), newer)
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
      image('gs://b/cat.png'),
      { type: 'file', file: { file_id: 'files/abc-123' } },
    ]
    const { contents } = await sent(called([{}], [{ tool_call_id: 'c0', content }]), newer)
    expect(contents[2]?.parts).toMatchObject([
      {
        functionResponse: {
          parts: [
            { inlineData: { mimeType: 'application/pdf', data: 'JVBE' } },
            { fileData: { fileUri: 'gs://b/cat.png', mimeType: 'image/png' } },
            { fileData: { fileUri: filesApi } },
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

describe('what the model has made', () => {
  async function past(message: object, upstreamId?: string) {
    const messages = [
      { role: 'user', content: 'Draw' },
      { role: 'assistant', content: 'Here.', ...message },
      { role: 'user', content: 'Red, please' },
    ]
    return (await sent(asking({ messages }), { upstreamId })).contents[1]?.parts
  }

  test('images and sound stand in the history', async () => {
    const images = [{ ...image('data:image/png;base64,iVBO'), ...signedBy('aW1n') }]
    const audio = { id: 'audio_1', data: 'AAE=', mime_type: 'audio/L16' }
    expect(await past({ images, audio, ...signedBy('dGV4dA==') })).toEqual([
      { text: 'Here.', thoughtSignature: 'dGV4dA==' },
      { inlineData: { mimeType: 'audio/L16', data: 'AAE=' } },
      { inlineData: { mimeType: 'image/png', data: 'iVBO' }, thoughtSignature: 'aW1n' },
    ])
  })

  test.each([
    ['images.0.image_url', { images: [image('https://example.com/cat.png')] }],
    ['audio', { audio: { id: 'audio_1' } }],
  ])('%s that cannot be said is refused', async (field, message) => {
    const messages = [{ role: 'assistant', content: 'Here.', ...message }]
    expect((await refused(asking({ messages })))['param']).toBe(`messages.0.${field}`)
  })
})

const signedBy = (thought_signature: unknown) => ({
  extra_content: { google: { thought_signature } },
})

describe('thought signatures', () => {
  const placeholder = 'skip_thought_signature_validator'
  async function signatures(calls: readonly object[], upstreamId: string) {
    const { contents } = await sent(called(calls, []), { upstreamId })
    return contents[1]?.parts.map(({ thoughtSignature }) => thoughtSignature)
  }

  test.each(['c2lnLTE=', 'a-_b', 'YQ=='])('%s comes back unchanged', async (value) => {
    expect(await signatures([signedBy(value), {}], 'gemini-3-pro-preview')).toEqual([
      value,
      undefined,
    ])
    expect(await signatures([signedBy(value)], 'gemini-2.5-pro')).toEqual([value])
  })

  test.each([['no base64!'], [7], [''], [null]])('%j is no signature', async (value) => {
    expect(await signatures([signedBy(value)], 'gemini-3-pro-preview')).toEqual([placeholder])
    expect(await signatures([signedBy(value)], 'gemini-2.5-pro')).toEqual([undefined])
  })

  test('a signature of a later call does not replace that of the first', async () => {
    expect(await signatures([{}, signedBy('YQ==')], 'gemini-3-pro-preview')).toEqual([
      placeholder,
      'YQ==',
    ])
  })

  test.each([
    ['gemini-2.0-flash', undefined],
    ['gemini-3-flash', placeholder],
    ['gemini-flash-latest', placeholder],
    ['tunedModels/mine', undefined],
  ])('%s gets the stand-in %s', async (upstreamId, expected) => {
    expect(await signatures([{}, {}], upstreamId)).toEqual([expected, undefined])
  })

  test('every step of a turn has one of its own', async () => {
    const { messages } = called([{}], [{ tool_call_id: 'c0', content: '1' }]) as {
      messages: object[]
    }
    const { contents } = await sent(
      asking({ messages: [...messages, ...messages.slice(1)] }),
      newer,
    )
    const found = contents.flatMap(({ parts }) => parts.map((part) => part['thoughtSignature']))
    expect(found.filter(Boolean)).toEqual([placeholder, placeholder])
  })
})
