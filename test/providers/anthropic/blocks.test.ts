import { describe, expect, test } from 'vitest'
import { sent } from './support.ts'

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

describe('cache marks', () => {
  const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } }

  test('a mark stays on a string, an image, a tool result and a text beside calls', async () => {
    const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' }, ...mark }
    const body = await sent({
      messages: [
        { role: 'system', content: 'Rules.', ...mark },
        user('Doc.', mark),
        user([image]),
        calling('c1'),
        tool('c1', 'x', mark),
      ],
    })
    expect(body['system']).toEqual([{ ...text('Rules.'), ...mark }])
    expect(body['messages']).toEqual([
      user([
        { ...text('Doc.'), ...mark },
        { type: 'image', source: expect.anything(), ...mark },
      ]),
      expect.anything(),
      user([{ type: 'tool_result', tool_use_id: 'c1', content: 'x', ...mark }]),
    ])
  })

  const marked = (block: object) => ({ ...block, ...mark })
  const used = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {} })

  test('the mark of a blank text moves to the nearest block before it', async () => {
    const blank = marked(text(' '))
    expect(await turns(user([text('a'), blank]))).toEqual([user([marked(text('a'))])])
    // That block may be in another turn.
    expect(await turns(user('a'), assistant('b'), user([blank, text('c')]))).toEqual([
      user('a'),
      assistant([marked(text('b'))]),
      user([text('c')]),
    ])
    expect(await turns(user('a'), user(' ', mark), calling('c1'), tool('c1', 'x'))).toContainEqual(
      user([marked(text('a'))]),
    )
  })

  test('the mark of a blank first text moves to the instructions', async () => {
    const system = { role: 'system', content: [text('One.'), text('Two.')] }
    const body = await sent({ messages: [system, user([marked(text('')), text('a')])] })
    expect(body['system']).toEqual([text('One.'), marked(text('Two.'))])
    expect(body['messages']).toEqual([user([text('a')])])
    // Without instructions the mark is left out.
    expect(await turns(user([marked(text('')), text('a')]))).toEqual([user([text('a')])])
  })

  test('a mark on a message with calls marks its last call, a mark on a call that call', async () => {
    const calls = [call('c1'), call('c2')]
    const results = [tool('c1', 'x'), tool('c2', 'x')]
    for (const content of [null, '', []]) {
      expect(
        await turns(user('a'), assistant(content, { tool_calls: calls, ...mark }), ...results),
      ).toContainEqual(assistant([used('c1'), marked(used('c2'))]))
    }
    const first = [marked(call('c1')), call('c2')]
    expect(
      await turns(user('a'), assistant(null, { tool_calls: first }), ...results),
    ).toContainEqual(assistant([marked(used('c1')), used('c2')]))
  })

  test('a mark on a message of parts marks its last part', async () => {
    expect(await turns(user([text('a'), text('b')], mark))).toEqual([
      user([text('a'), marked(text('b'))]),
    ])
  })

  test('a thinking block carries no mark', async () => {
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }
    const said = assistant([marked(text(' '))], {
      thinking_blocks: [thinking],
      tool_calls: [call('c1')],
    })
    expect(await turns(user('a'), said, tool('c1', 'x'))).toEqual([
      user([marked(text('a'))]),
      assistant([thinking, used('c1')]),
      expect.anything(),
    ])
  })

  test('a block keeps the first of two marks', async () => {
    expect(await turns(user([marked(text('a')), { ...text(''), cache_control: {} }]))).toEqual([
      user([marked(text('a'))]),
    ])
  })

  test('a mark inside of a tool result stays there, or moves to the result if no block precedes it', async () => {
    const result = async (content: object[]) =>
      ((await turns(user('a'), calling('c1'), tool('c1', content))) as { content: unknown }[])[2]
    expect(await result([text('x'), marked(text(''))])).toEqual(
      user([{ type: 'tool_result', tool_use_id: 'c1', content: [marked(text('x'))] }]),
    )
    expect(await result([marked(text(''))])).toEqual(
      user([marked({ type: 'tool_result', tool_use_id: 'c1' })]),
    )
  })
})
