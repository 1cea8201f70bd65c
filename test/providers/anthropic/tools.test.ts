import { describe, expect, test } from 'vitest'
import { refused, sent, strict } from './support.ts'

const f = {
  type: 'function',
  function: { name: 'f', parameters: { type: 'object', properties: {} } },
}
const g = { type: 'function', function: { name: 'g', description: 'G' } }
const custom = { type: 'custom', custom: { name: 'c' } }
const named = (name: string) => ({ type: 'function', function: { name } })
const allowed = (mode: string, ...names: string[]) => ({
  type: 'allowed_tools',
  allowed_tools: { mode, tools: names.map(named) },
})

/** Returns the names of the tools in the upstream request, and the choice. */
async function chosen(fields: object, upstreamId?: string) {
  const body = await sent({ tools: [f, g], ...fields }, { upstreamId })
  // The tests of the tools check the shape.
  const tools = body['tools'] as { name: string }[]
  return [tools.map(({ name }) => name).join(' '), body['tool_choice']]
}

describe('the tool choice', () => {
  test.each([
    [undefined, 'f g', undefined],
    ['auto', 'f g', { type: 'auto' }],
    ['none', 'f g', { type: 'none' }],
    ['required', 'f g', { type: 'any' }],
    [named('g'), 'f g', { type: 'tool', name: 'g' }],
    [allowed('auto', 'g'), 'g', { type: 'auto' }],
    [allowed('required', 'g'), 'g', { type: 'any' }],
    [{ type: 'custom', custom: { name: 'c' } }, 'f g', undefined],
  ])('%j is translated', async (choice, tools, upstream) => {
    expect(await chosen({ tool_choice: choice })).toEqual([tools, upstream])
  })

  test.each([
    ['required', 'f g', { type: 'auto' }],
    [named('g'), 'g', { type: 'auto' }],
    [allowed('required', 'g'), 'g', { type: 'auto' }],
    ['none', 'f g', { type: 'none' }],
  ])('%j forces no call on a model that cannot be forced', async (choice, tools, upstream) => {
    for (const upstreamId of ['claude-sonnet-5-5', 'claude-opus-5-5', 'claude-mythos-5-2']) {
      expect(await chosen({ tool_choice: choice }, upstreamId)).toEqual([tools, upstream])
    }
    // A thinking budget rules out forced calls too.
    expect(await chosen({ tool_choice: choice, reasoning_effort: 'low' })).toEqual([
      tools,
      upstream,
    ])
  })

  test('adaptive thinking allows a forced call', async () => {
    const fields = { tool_choice: 'required', reasoning_effort: 'low' }
    expect(await chosen(fields, 'claude-opus-4-6')).toEqual(['f g', { type: 'any' }])
  })

  test('a strict provider refuses a choice that cannot be forced', async () => {
    const fields = { tools: [f], tool_choice: 'required' }
    const error = await refused(fields, { ...strict, upstreamId: 'claude-sonnet-5-5' })
    expect(error).toMatchObject({ code: 'LM-1001', param: 'tool_choice' })
  })
})

describe('parallel_tool_calls', () => {
  test.each([
    [undefined, { type: 'auto', disable_parallel_tool_use: true }],
    ['auto', { type: 'auto', disable_parallel_tool_use: true }],
    ['required', { type: 'any', disable_parallel_tool_use: true }],
    [named('f'), { type: 'tool', name: 'f', disable_parallel_tool_use: true }],
    ['none', { type: 'none' }],
  ])('false becomes disable_parallel_tool_use on the choice %j', async (choice, upstream) => {
    const [, sentChoice] = await chosen({ tool_choice: choice, parallel_tool_calls: false })
    expect(sentChoice).toEqual(upstream)
  })

  test('true is the default and is not sent', async () => {
    expect(await chosen({ parallel_tool_calls: true })).toEqual(['f g', undefined])
  })
})

describe('the tools', () => {
  const readTools = async (tools: unknown, setup = {}) => (await sent({ tools }, setup))['tools']

  test('the parameters are sent unchanged', async () => {
    const parameters = JSON.parse(
      '{"$defs":{"p":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/p"},"__proto__":{"type":"null"}},"additionalProperties":{"type":"string"},"anyOf":[{"required":["a"]}]}',
    )
    const [tool] = (await readTools([functionTool('t', { parameters })])) as [
      { input_schema: object },
    ]
    expect(JSON.stringify(tool.input_schema)).toBe(
      JSON.stringify({ type: 'object', ...parameters }),
    )
  })

  test('a function without parameters gets an empty object schema', async () => {
    const none = { type: 'object', properties: {} }
    expect(await readTools([g])).toEqual([{ name: 'g', description: 'G', input_schema: none }])
    expect(await readTools([functionTool('t', { parameters: null, description: null })])).toEqual([
      { name: 't', input_schema: none },
    ])
  })

  test('strict is sent to models that enforce schemas', async () => {
    const tool = functionTool('t', { strict: true })
    expect(await readTools([tool])).toMatchObject([{ strict: true }])
    const upstreamId = 'claude-sonnet-4-0'
    expect(await readTools([tool], { upstreamId })).toEqual([
      { name: 't', input_schema: { type: 'object', properties: {} } },
    ])
    expect(await refused({ tools: [tool] }, { ...strict, upstreamId })).toMatchObject({
      param: 'tools.0.function.strict',
    })
  })

  test('tools of other types are left out, and refused by a strict provider', async () => {
    expect(await readTools([custom, g])).toMatchObject([{ name: 'g' }])
    expect(await sent({ tools: [custom], tool_choice: 'auto' })).not.toHaveProperty('tool_choice')
    expect(await refused({ tools: [g, custom] }, strict)).toMatchObject({ param: 'tools.1' })
  })

  test('the legacy functions and function_call are translated alike', async () => {
    const body = await sent({
      functions: [{ name: 'f', parameters: { type: 'object' } }],
      function_call: { name: 'f' },
    })
    expect(body).toMatchObject({
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
      tool_choice: { type: 'tool', name: 'f' },
    })
  })
})

function functionTool(name: string, more: object): object {
  return { type: 'function', function: { name, ...more } }
}

describe('cache marks', () => {
  const mark = { cache_control: { type: 'ephemeral' } }
  const names = async (fields: object) => {
    const { tools } = await sent(fields)
    // The API accepts a JSON object only.
    return (tools as Record<string, unknown>[]).map(({ name, cache_control }) => [
      name,
      cache_control,
    ])
  }

  test.each([
    ['beside the function', { ...g, ...mark }],
    ['inside of it', { ...g, function: { ...g.function, ...mark } }],
  ])('a mark %s marks the tool', async (_, tool) => {
    expect(await names({ tools: [f, tool] })).toEqual([
      ['f', undefined],
      ['g', mark.cache_control],
    ])
  })

  test('the mark of a tool that is not offered moves to the tool before it', async () => {
    const fields = { tools: [f, { ...g, ...mark }], tool_choice: allowed('auto', 'f') }
    expect(await names(fields)).toEqual([['f', mark.cache_control]])
  })
})

test.each([
  ['defer_loading', true],
  ['input_examples', [{ city: 'Oslo' }]],
  ['allowed_callers', ['code_execution_20260120']],
])('%s passes from beside a function and from inside of it', async (member, value) => {
  const inside = { ...f, function: { ...f.function, [member]: value } }
  const body = await sent({ tools: [{ ...f, [member]: value }, inside] }, strict)
  expect(body['tools']).toMatchObject([{ [member]: value }, { [member]: value }])
})
