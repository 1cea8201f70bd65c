import { describe, expect, test } from 'vitest'
import { refuseFields, sendFields, sonnet } from './support.ts'

const opus55 = 'us.anthropic.claude-opus-5-5-v1:0'
const sonnet5 = 'us.anthropic.claude-sonnet-5-v1:0'
const nova = 'us.amazon.nova-pro-v1:0'
const llama = 'us.meta.llama3-3-70b-instruct-v1:0'
const mistralLarge = 'mistral.mistral-large-2402-v1:0'
const deepseek = 'us.deepseek.v3-v1:0'

const tool = (name: string, more: object = {}) => ({
  type: 'function',
  function: { name, ...more },
})

const spec = (name: string, more: object = {}) => ({
  toolSpec: { name, inputSchema: { json: { type: 'object', properties: {} } }, ...more },
})

describe('tools', () => {
  const f = { tools: [tool('f'), tool('g')] }
  const tools = [spec('f'), spec('g')]
  const named = { type: 'function', function: { name: 'g' } }

  test.each([
    ['no choice', sonnet, undefined, { tools }, undefined],
    ['auto', sonnet, 'auto', { tools, toolChoice: { auto: {} } }, undefined],
    ['a named function', sonnet, named, { tools, toolChoice: { tool: { name: 'g' } } }, undefined],
    ['none', sonnet, 'none', undefined, undefined],
    [
      'required on a model without auto',
      deepseek,
      'required',
      { tools, toolChoice: { any: {} } },
      undefined,
    ],
    ['auto on a model without auto', deepseek, 'auto', { tools }, undefined],
    ['auto on Llama', llama, 'auto', { tools, toolChoice: { auto: {} } }, undefined],
    ['required on Llama', llama, 'required', { tools }, 'tool_choice'],
    [
      'required on Mistral Large',
      mistralLarge,
      'required',
      { tools, toolChoice: { any: {} } },
      undefined,
    ],
    ['a named function on Mistral Large', mistralLarge, named, { tools }, 'tool_choice'],
    [
      'required on a model that cannot be forced',
      opus55,
      'required',
      { tools, toolChoice: { auto: {} } },
      'tool_choice',
    ],
    [
      'a named function on a model that cannot be forced',
      opus55,
      named,
      { tools: [spec('g')], toolChoice: { auto: {} } },
      'tool_choice',
    ],
    [
      'allowed_tools',
      sonnet,
      { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [named] } },
      { tools: [spec('g')], toolChoice: { any: {} } },
      undefined,
    ],
    ['a custom tool', sonnet, { type: 'custom', custom: { name: 'x' } }, { tools }, 'tool_choice'],
  ])('the choice is translated: %s', async (_, model, tool_choice, config, param) => {
    expect((await sendFields(model, { ...f, tool_choice })).toolConfig).toEqual(config)
    expect(await refuseFields(model, { ...f, tool_choice })).toBe(param)
  })

  test('a forced choice becomes auto while Claude thinks on a budget', async () => {
    const body = await sendFields(sonnet, {
      ...f,
      tool_choice: 'required',
      reasoning_effort: 'low',
    })
    expect(body.toolConfig).toEqual({ tools, toolChoice: { auto: {} } })
  })

  test('Sonnet 5 is forced with its thinking off, and not with its thinking on', async () => {
    const forced = { ...f, tool_choice: 'required' }
    expect(await sendFields(sonnet5, forced)).toMatchObject({
      toolConfig: { toolChoice: { any: {} } },
      additionalModelRequestFields: { thinking: { type: 'disabled' } },
    })
    expect(await sendFields(sonnet5, { ...forced, reasoning_effort: 'low' })).toMatchObject({
      toolConfig: { toolChoice: { auto: {} } },
      additionalModelRequestFields: { thinking: { type: 'adaptive' } },
    })
    expect((await sendFields(sonnet5, f)).additionalModelRequestFields).toBeUndefined()
  })

  test('parallel_tool_calls: false becomes Claude’s own tool_choice', async () => {
    const serial = { ...f, parallel_tool_calls: false, tool_choice: named }
    const body = await sendFields(sonnet, serial)
    expect(body.toolConfig).toEqual({ tools })
    expect(body.additionalModelRequestFields).toEqual({
      tool_choice: { type: 'tool', name: 'g', disable_parallel_tool_use: true },
    })
    expect((await sendFields(nova, serial)).toolConfig).toEqual({
      tools,
      toolChoice: { tool: { name: 'g' } },
    })
    expect(await refuseFields(nova, serial)).toBe('parallel_tool_calls')
    expect(await refuseFields(nova, { parallel_tool_calls: false })).toBeUndefined()
  })

  test('descriptions and schemas are sent unchanged', async () => {
    const parameters = {
      properties: { a: { $ref: '#/$defs/A' } },
      $defs: { A: { type: 'string' } },
    }
    const body = await sendFields(sonnet, {
      tools: [tool('f', { description: 'Does f', parameters }), tool('g', { description: ' ' })],
    })
    const inputSchema = { json: { type: 'object', ...parameters } }
    expect(body.toolConfig).toEqual({
      tools: [{ toolSpec: { name: 'f', description: 'Does f', inputSchema } }, spec('g')],
    })
  })

  const closed = { type: 'object', properties: {}, additionalProperties: false }
  const open = {
    type: 'object',
    properties: { a: { type: ['object', 'null'] } },
    additionalProperties: false,
  }

  test.each([
    ['a closed schema', sonnet, closed, true],
    ['an open schema', sonnet, { type: 'object' }, false],
    ['a schema with an open part', sonnet, open, false],
    ['no schema', sonnet, undefined, false],
    ['a model without structured output', nova, closed, false],
  ])('strict is sent only where it can be enforced: %s', async (_, model, parameters, strict) => {
    const fields = { tools: [tool('f', { strict: true, parameters })] }
    const [one] = (
      (await sendFields(model, fields)) as { toolConfig: { tools: { toolSpec: object }[] } }
    ).toolConfig.tools
    if (strict) expect(one?.toolSpec).toMatchObject({ strict: true })
    else expect(one?.toolSpec).not.toHaveProperty('strict')
    expect(await refuseFields(model, fields)).toBe(strict ? undefined : 'tools.0.function.strict')
  })

  test('tools of other types are left out, and refused by a strict provider', async () => {
    const fields = { tools: [{ type: 'custom', custom: { name: 'x' } }] }
    expect((await sendFields(sonnet, fields)).toolConfig).toBeUndefined()
    expect(await refuseFields(sonnet, fields)).toBe('tools.0')
  })

  test('a tool may carry a cache mark on Claude', async () => {
    const marked = { tools: [{ ...tool('f'), cache_control: { type: 'ephemeral' } }, tool('g')] }
    const point = { cachePoint: { type: 'default' } }
    expect((await sendFields(sonnet, marked)).toolConfig).toEqual({
      tools: [spec('f'), point, spec('g')],
    })
    expect((await sendFields(nova, marked)).toolConfig).toEqual({ tools })
  })

  const past = {
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        tool_calls: ['a', 'b', 'c'].map((id, index) => ({
          id,
          ...tool(index === 1 ? 'g' : 'f', { arguments: '{}' }),
        })),
      },
      ...['a', 'b', 'c'].map((id) => ({ role: 'tool', tool_call_id: id, content: id })),
    ],
  }

  test('tools that the conversation has called are made up from their names', async () => {
    expect((await sendFields(sonnet, past)).toolConfig).toEqual({ tools })
    const none = { ...past, tools: [tool('h')], tool_choice: 'none' }
    expect((await sendFields(sonnet, none)).toolConfig).toEqual({ tools: [spec('h')] })
    expect(await refuseFields(sonnet, none)).toBe('tool_choice')
  })

  test.each(['get weather', 'a.b', '', 'x'.repeat(65)])(
    'a function whose name Converse rejects gets another name, once and for all: %j',
    async (name) => {
      const first = await sendFields(sonnet, { tools: [tool(name), tool('g')] })
      const later = await sendFields(sonnet, { tools: [tool('h'), tool(name)] })
      const given = [first, later].flatMap(listNames)
      expect(given).toEqual([given[0], 'g', 'h', given[0]])
      expect(given[0]).toMatch(/^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/)
    },
  )
})

/** Lists the names of the offered tools. */
function listNames(body: object): string[] {
  return [...JSON.stringify(body).matchAll(/"toolSpec":\{"name":"([^"]*)"/g)].map(
    ([, name = '']) => name,
  )
}
