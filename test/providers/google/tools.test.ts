import { describe, expect, test } from 'vitest'
import { asking, refused, type SentBody, sent, weather } from './support.ts'

const clock = { type: 'function', function: { name: 'clock' } }
describe('tools', () => {
  function declared({ tools }: SentBody) {
    return tools?.[0].functionDeclarations.map(({ name }) => name)
  }

  test('all functions are declared in one tool, without empty descriptions', async () => {
    const described = { type: 'function', function: { name: 'a', description: 'Does a' } }
    const silent = { type: 'function', function: { name: 'b', description: '' } }
    const { tools } = await sent(asking({ tools: [described, silent] }))
    expect(tools).toEqual([
      { functionDeclarations: [{ name: 'a', description: 'Does a' }, { name: 'b' }] },
    ])
  })

  test('a request without functions has neither tools nor toolConfig', async () => {
    const body = await sent(asking({ tools: [], tool_choice: 'required' }))
    expect(body).not.toHaveProperty('tools')
    expect(body).not.toHaveProperty('toolConfig')
  })

  const allowing = (mode: string, ...names: string[]) => ({
    type: 'allowed_tools',
    allowed_tools: {
      mode,
      tools: names.map((name) => ({ type: 'function', function: { name } })),
    },
  })

  test.each([
    ['nothing', undefined, undefined, ['weather', 'clock']],
    ['auto', 'auto', undefined, ['weather', 'clock']],
    ['none', 'none', { mode: 'NONE' }, ['weather', 'clock']],
    ['required', 'required', { mode: 'ANY' }, ['weather', 'clock']],
    ['one function', clock, { mode: 'ANY', allowedFunctionNames: ['clock'] }, ['weather', 'clock']],
    [
      'one of some',
      allowing('required', 'clock'),
      { mode: 'ANY', allowedFunctionNames: ['clock'] },
      ['weather', 'clock'],
    ],
    ['only some functions', allowing('auto', 'clock'), undefined, ['clock']],
  ])('a tool_choice of %s becomes its calling config', async (_, tool_choice, config, names) => {
    const body = await sent(asking({ tools: [weather, clock], tool_choice }))
    expect(body.toolConfig).toEqual(config && { functionCallingConfig: config })
    expect(declared(body)).toEqual(names)
  })

  test.each([
    ['nothing', undefined, 'VALIDATED'],
    ['auto', 'auto', 'VALIDATED'],
    ['none', 'none', 'NONE'],
    ['required', 'required', 'ANY'],
    ['one function', clock, 'ANY'],
    ['only some functions', allowing('auto', 'weather'), 'VALIDATED'],
  ])('a strict function is validated with a tool_choice of %s', async (_, tool_choice, mode) => {
    const strict = { type: 'function', function: { ...weather.function, strict: true } }
    const body = await sent(asking({ tools: [strict, clock], tool_choice }), { strict: true })
    expect(body.toolConfig).toMatchObject({ functionCallingConfig: { mode } })
  })

  test.each([
    ['named', { type: 'function', function: { name: 'other' } }],
    ['allowed', allowing('auto', 'weather', 'other')],
  ])('a function that is %s must be declared in tools', async (_, tool_choice) => {
    const request = asking({ tools: [weather], tool_choice })
    expect(await refused(request)).toMatchObject({ code: 'LM-1001', param: 'tool_choice' })
  })

  test('the legacy functions and function_call are translated', async () => {
    const body = await sent(
      asking({ functions: [{ name: 'a', description: 'Does a' }], function_call: { name: 'a' } }),
    )
    expect(body.tools).toEqual([{ functionDeclarations: [{ name: 'a', description: 'Does a' }] }])
    expect(body.toolConfig).toEqual({
      functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['a'] },
    })
  })
})
