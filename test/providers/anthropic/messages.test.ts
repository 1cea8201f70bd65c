import { describe, expect, test } from 'vitest'
import { refused, sent, strict } from './support.ts'

const user = (content: unknown, more: object = {}) => ({ role: 'user', content, ...more })
const assistant = (content: unknown, more: object = {}) => ({ role: 'assistant', content, ...more })
const tool = (id: string, content: unknown, more: object = {}) => ({
  role: 'tool',
  tool_call_id: id,
  content,
  ...more,
})
const call = (id: string, name = 'look', args = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})
const calling = (...ids: string[]) => assistant(null, { tool_calls: ids.map((id) => call(id)) })
const text = (value: string) => ({ type: 'text', text: value })

/** Returns the messages of the upstream request for this conversation. */
async function turns(...messages: object[]): Promise<unknown> {
  return (await sent({ messages }))['messages']
}

describe('instructions', () => {
  test('every part of every instruction is kept, blank parts are left out', async () => {
    const body = await sent({
      messages: [
        { role: 'system', content: [text('One.'), text(' '), text('Two.')] },
        user('Hi'),
        { role: 'developer', content: 'Three.' },
      ],
    })
    expect(body['system']).toBe('One.\nTwo.\nThree.')
    expect(body['messages']).toEqual([user('Hi')])
  })

  test('without instructions the body has no system field', async () => {
    const body = await sent({ messages: [{ role: 'system', content: '' }, user('Hi')] })
    expect(body).not.toHaveProperty('system')
  })

  test.each([[[user('  ')]], [[]], [[user([])]], [[assistant('')]]])(
    'instructions with the messages %j get a user turn',
    async (messages) => {
      const body = await sent({ messages: [{ role: 'system', content: 'Be brief.' }, ...messages] })
      expect(body).toMatchObject({ system: 'Be brief.', messages: [user('.')] })
    },
  )

  test('an empty user text alone becomes a user turn', async () => {
    expect(await turns(user(''))).toEqual([user('.')])
  })
})

describe('turns', () => {
  test('neighbours of the same role become one turn', async () => {
    expect(
      await turns(user('a'), user([text('b')]), assistant('c'), assistant('d'), user('e')),
    ).toEqual([user([text('a'), text('b')]), assistant([text('c'), text('d')]), user('e')])
  })

  test('an empty message is left out, and its neighbours merge', async () => {
    expect(await turns(user('a'), assistant(''), assistant(null), user('b'))).toEqual([
      user([text('a'), text('b')]),
    ])
  })

  test('a conversation that the assistant opens gets a user turn in front', async () => {
    expect(await turns(assistant('Welcome!'), user('Hi'))).toEqual([
      user('.'),
      assistant('Welcome!'),
      user('Hi'),
    ])
  })

  test('only the last text of a prefill in blocks loses its trailing white space', async () => {
    expect(await turns(user('Hi'), assistant([text('One \n'), text('Two \n')]))).toEqual([
      user('Hi'),
      assistant([text('One \n'), text('Two')]),
    ])
    expect(await turns(user('Hi'), assistant('One \n'), user('Go on'))).toContainEqual(
      assistant('One \n'),
    )
  })

  test('the name and the reasoning_content of a message are left out', async () => {
    const messages = [
      user('Hi', { name: 'bob' }),
      assistant('Yes', { name: 'x', reasoning_content: 'hm', audio: null, refusal: null }),
      user('Go'),
    ]
    expect(await turns(...messages)).toEqual([user('Hi'), assistant('Yes'), user('Go')])
  })

  test.each([
    ['audio that another vendor stores', { id: 'a' }, 'messages.0.audio'],
    ['audio data', { data: 'AAAA', mime_type: 'audio/wav' }, 'messages.0.audio'],
  ])('%s in an assistant message is content, so it is refused', async (_, audio, param) => {
    const messages = [assistant('Yes', { audio }), user('Go')]
    expect(await refused({ messages })).toMatchObject({ code: 'LM-1001', param })
  })

  test('a past refusal is sent back as text', async () => {
    expect(await turns(user('a'), assistant(null, { refusal: 'No.' }), user('b'))).toContainEqual(
      assistant('No.'),
    )
    expect(
      await turns(user('a'), assistant([{ type: 'refusal', refusal: 'No.' }]), user('b')),
    ).toContainEqual(assistant([text('No.')]))
  })

  test('an unknown role is refused with LM-1001', async () => {
    const error = await refused({ messages: [user('a'), { role: 'robot', content: 'b' }] })
    expect(error).toMatchObject({ code: 'LM-1001', param: 'messages.1.role' })
  })
})

describe('calls and results', () => {
  test('text is in front of calls, and empty text is left out', async () => {
    expect(
      await turns(
        user('a'),
        assistant('Let me see.', { tool_calls: [call('c1')] }),
        tool('c1', 'x'),
      ),
    ).toEqual([
      user('a'),
      assistant([text('Let me see.'), { type: 'tool_use', id: 'c1', name: 'look', input: {} }]),
      user([{ type: 'tool_result', tool_use_id: 'c1', content: 'x' }]),
    ])
    expect(await turns(user('a'), calling('c1'), tool('c1', 'x'))).toContainEqual(
      assistant([{ type: 'tool_use', id: 'c1', name: 'look', input: {} }]),
    )
  })

  test('tool results come first in their turn, in their order', async () => {
    expect(
      await turns(user('a'), calling('c1', 'c2'), tool('c1', '1'), user('b'), tool('c2', '2')),
    ).toEqual([
      user('a'),
      expect.objectContaining({ role: 'assistant' }),
      user([
        { type: 'tool_result', tool_use_id: 'c1', content: '1' },
        { type: 'tool_result', tool_use_id: 'c2', content: '2' },
        text('b'),
      ]),
    ])
  })

  test.each([
    ['', {}],
    ['  ', {}],
    ['null', {}],
    ['{"a":1}', { a: 1 }],
    ['[1]', { rawInvalidInput: '[1]' }],
    ['{"a":', { rawInvalidInput: '{"a":' }],
  ])('arguments %j become the input %j', async (args, input) => {
    const conversation = [
      user('a'),
      assistant(null, { tool_calls: [call('c1', 'look', args)] }),
      tool('c1', 'x'),
    ]
    expect(await turns(...conversation)).toContainEqual(
      assistant([{ type: 'tool_use', id: 'c1', name: 'look', input }]),
    )
  })

  test('a strict provider refuses arguments that are not an object', async () => {
    const messages = [
      user('a'),
      assistant(null, { tool_calls: [call('c1', 'look', '[1]')] }),
      tool('c1', 'x'),
    ]
    expect(await refused({ messages }, strict)).toMatchObject({
      code: 'LM-1001',
      param: 'messages.1.tool_calls.0.function.arguments',
    })
  })

  test('an empty tool result has no content', async () => {
    expect(
      await turns(user('a'), calling('c1', 'c2'), tool('c1', ''), tool('c2', [text(' ')])),
    ).toContainEqual(
      user([
        { type: 'tool_result', tool_use_id: 'c1' },
        { type: 'tool_result', tool_use_id: 'c2' },
      ]),
    )
  })

  test('a tool result may hold images', async () => {
    const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
    expect(await turns(user('a'), calling('c1'), tool('c1', [text('See:'), image]))).toContainEqual(
      user([
        {
          type: 'tool_result',
          tool_use_id: 'c1',
          content: [
            text('See:'),
            { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
          ],
        },
      ]),
    )
  })

  test('different ids that become equal get different ids, on calls and results', async () => {
    const [, calls, results] = await turnsOfIds(['a.b', 'a:b', 'a_b', 'a_b_2'])
    expect(calls).toEqual(['a_b', 'a_b_2', 'a_b_3', 'a_b_2_2'])
    expect(results).toEqual(calls)
  })

  test('a result answers the latest call with its id', async () => {
    const body = await turns(
      user('a'),
      calling('call_0'),
      tool('call_0', '1'),
      calling('call_0'),
      tool('call_0', '2'),
    )
    expect(JSON.stringify(body)).toContain('"tool_use_id":"call_0","content":"1"')
    expect(JSON.stringify(body)).toContain('"tool_use_id":"call_0_2","content":"2"')
  })

  test('thousands of equal ids are renamed in linear time', async () => {
    const ids = Array.from({ length: 8_000 }, () => 'x')
    const [, calls] = await turnsOfIds(ids)
    expect(new Set(calls).size).toBe(8_000)
  })

  async function turnsOfIds(ids: readonly string[]) {
    const [, asked, answered] = (await turns(
      user('a'),
      calling(...ids),
      ...ids.map((id) => tool(id, 'x')),
      // The test before this one has checked the shape.
    )) as [unknown, { content: { id: string }[] }, { content: { tool_use_id: string }[] }]
    return [
      undefined,
      asked.content.map(({ id }) => id),
      answered.content.map(({ tool_use_id: id }) => id),
    ]
  }

  test('the legacy function_call and its result are translated', async () => {
    expect(
      await turns(
        user('a'),
        assistant(null, { function_call: { name: 'look', arguments: '{"k":1}' } }),
        { role: 'function', name: 'look', content: 'x' },
      ),
    ).toEqual([
      user('a'),
      assistant([{ type: 'tool_use', id: 'call_1_0', name: 'look', input: { k: 1 } }]),
      user([{ type: 'tool_result', tool_use_id: 'call_1_0', content: 'x' }]),
    ])
  })

  test('a tool result without an id is refused with LM-1001', async () => {
    const messages = [user('a'), calling('c1'), { role: 'tool', content: 'x' }]
    expect(await refused({ messages })).toMatchObject({
      code: 'LM-1001',
      param: 'messages.2.tool_call_id',
    })
  })
})

describe('instructions in their place', () => {
  const system = (content: unknown) => ({ role: 'system', content })
  const place = async (upstreamId: string, ...messages: object[]) => {
    const body = await sent({ messages }, { upstreamId, ...strict })
    return [body['system'], body['messages']]
  }
  const later = [system('First.'), user('a'), assistant('b'), user('c'), system('Be brief.')]
  const inPlace = [user('a'), assistant('b'), user('c')]

  test.each(['claude-opus-4-8', 'claude-opus-5', 'claude-sonnet-5-5', 'claude-fable-5'])(
    '%s takes them behind a user',
    async (model) => {
      expect(await place(model, ...later)).toEqual(['First.', [...inPlace, system('Be brief.')]])
      expect(await place(model, ...later, assistant('So'))).toEqual([
        'First.',
        [...inPlace, system('Be brief.'), assistant('So')],
      ])
    },
  )

  test.each(['claude-opus-4-7', 'claude-sonnet-5', 'claude-haiku-4-5', 'claude-next-9', 'kimi-k3'])(
    '%s gets all of them in front',
    async (model) => {
      expect(await place(model, ...later)).toEqual(['First.\nBe brief.', inPlace])
    },
  )

  test('neighbours become one instruction', async () => {
    const [, turned] = await place('claude-opus-5', user('a'), system('One.'), system('Two.'))
    expect(turned).toEqual([user('a'), system([text('One.'), text('Two.')])])
  })

  test('an instruction in another place goes to the front', async () => {
    const calls = calling('c1', 'c2')
    expect(await place('claude-opus-5', user('a'), system('One.'), user('b'))).toEqual([
      'One.',
      [user([text('a'), text('b')])],
    ])
    expect(await place('claude-opus-5', user('a'), assistant('b'), system('One.'))).toMatchObject([
      'One.',
      [user('a'), assistant('b')],
    ])
    const [front] = await place(
      'claude-opus-5',
      user('a'),
      calls,
      tool('c1', 'x'),
      system('One.'),
      tool('c2', 'y'),
    )
    expect(front).toBe('One.')
  })

  test('an empty message does not count as a place', async () => {
    expect(await place('claude-opus-5', user('a'), assistant('b'), user(' '), system('X'))).toEqual(
      ['X', [user('a'), assistant('b')]],
    )
    expect(await place('claude-opus-5', user('a'), assistant(''), system('X'))).toEqual([
      undefined,
      [user('a'), system('X')],
    ])
  })

  test('an instruction behind the results of calls stays there, with its mark', async () => {
    const marked = { ...text('One.'), cache_control: { type: 'ephemeral' } }
    const [front, turned] = await place(
      'claude-opus-5',
      user('a'),
      calling('c1'),
      tool('c1', 'x'),
      system([marked]),
    )
    expect(front).toBeUndefined()
    expect(turned).toMatchObject([{}, {}, { role: 'user' }, system([marked])])
  })
})

test('a failed call says so in its result', async () => {
  const failed = tool('c1', 'no network', { is_error: true })
  expect(await turns(user('a'), calling('c1'), failed)).toMatchObject([
    {},
    {},
    { content: [{ type: 'tool_result', content: 'no network', is_error: true }] },
  ])
  const fine = await turns(user('a'), calling('c1'), tool('c1', 'ok', { is_error: false }))
  expect(JSON.stringify(fine)).not.toContain('is_error')
  expect(
    await refused({ messages: [user('a'), calling('c1'), tool('c1', 'x', { is_error: 'yes' })] }),
  ).toMatchObject({ code: 'LM-1001', param: 'messages.2.is_error' })
})
