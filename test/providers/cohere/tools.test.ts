import { describe, expect, test } from 'vitest'
import { json } from '../../support/scripted-upstream.ts'
import { answered, asking, cohereGateway, refused, sent, tool } from './support.ts'

describe('tools', () => {
  test('a schema is sent unchanged, and an empty one becomes an object without properties', async () => {
    const none = { type: 'object', properties: {} }
    const { tools } = await sent({
      tools: [tool('a'), tool('b', { parameters: {} }), tool('c', { parameters: null })],
    })
    expect(tools).toEqual([
      tool('a'),
      tool('b', { parameters: none }),
      tool('c', { parameters: none }),
    ])
  })

  test.each([
    ['auto', undefined],
    ['none', 'NONE'],
    ['required', 'REQUIRED'],
    [{ type: 'function', function: { name: 'a' } }, undefined],
    [{ type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [tool('a')] } }, undefined],
    [{ type: 'custom', custom: { name: 'a' } }, undefined],
  ])('tool_choice %j becomes %j, and every tool is declared', async (choice, expected) => {
    const body = await sent({ tools: [tool('a'), tool('b')], tool_choice: choice })
    expect(body['tool_choice']).toBe(expected)
    expect(body['tools']).toEqual([tool('a'), tool('b')])
  })

  test.each([{ tools: [] }, { tools: null }, {}])(
    '%j sends neither tools nor a tool_choice',
    async (none) => {
      const body = await sent({ ...none, tool_choice: 'none' })
      expect(body).not.toHaveProperty('tools')
      expect(body).not.toHaveProperty('tool_choice')
    },
  )

  test('strict_tools is sent only when every function is strict', async () => {
    const [strict, loose] = [tool('a', { strict: true }), tool('b', { strict: false })]
    expect(await sent({ tools: [strict] })).toMatchObject({
      strict_tools: true,
      tools: [tool('a')],
    })
    expect(await sent({ tools: [strict, loose] })).not.toHaveProperty('strict_tools')
    expect(await sent({ tools: [loose] })).not.toHaveProperty('strict_tools')
    expect(await refused({ tools: [loose, strict] })).toBe('tools.1.function.strict')
    const { chat, upstream } = await cohereGateway('strict = true')
    upstream.next(json(answered({})))
    expect((await chat(asking({ tools: [strict, strict] }))).status).toBe(200)
  })

  test('a tool that is not a function is dropped', async () => {
    const custom = { type: 'custom', custom: { name: 'x' } }
    expect((await sent({ tools: [custom, tool('a')] }))['tools']).toEqual([tool('a')])
    expect(await refused({ tools: [tool('a'), custom] })).toBe('tools.1')
  })
})
