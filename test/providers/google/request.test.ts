import { describe, expect, test } from 'vitest'
import { json, stream } from '../../support/scripted-upstream.ts'
import { asking, end, googleGateway, refused, type SentBody, saying, sent } from './support.ts'

async function configSent(fields: object, upstreamId?: string) {
  const { generationConfig } = await sent(asking(fields), { upstreamId })
  return generationConfig
}

const weather = { type: 'function', function: { name: 'weather' } }
const clock = { type: 'function', function: { name: 'clock' } }

describe('address', () => {
  test.each([
    ['https://proxy.test', 'gemini-2.5-flash', '/v1beta/models/gemini-2.5-flash'],
    ['https://proxy.test/', 'gemini-2.5-flash', '/v1beta/models/gemini-2.5-flash'],
    ['https://proxy.test/v1', 'gemini-2.5-flash', '/v1/models/gemini-2.5-flash'],
    ['https://proxy.test/v1alpha/', 'gemini-2.5-flash', '/v1alpha/models/gemini-2.5-flash'],
    ['https://proxy.test/google/', 'gemini-2.5-flash', '/google/v1beta/models/gemini-2.5-flash'],
    ['https://proxy.test', 'models/gemini-2.5-pro', '/v1beta/models/gemini-2.5-pro'],
    ['https://proxy.test', 'tunedModels/mine', '/v1beta/tunedModels/mine'],
  ])('%s and %s make %s', async (base, upstreamId, path) => {
    const settings = `base_url = "${base}"`
    const { chat, upstream } = await googleGateway({ upstreamId, settings })
    upstream.next(json(saying('Hi')))
    await chat(asking())
    expect(upstream.requests[0]?.url).toBe(`https://proxy.test${path}:generateContent`)
  })

  test('the query of a proxy is kept', async () => {
    const settings = 'base_url = "https://proxy.test/?team=a"'
    const { chat, upstream } = await googleGateway({ settings })
    upstream.next(json(saying('Hi')), stream([end]))
    await chat(asking())
    await chat(asking({ stream: true }))
    const queries = upstream.requests.map(({ url }) => new URL(url).search)
    expect(queries).toEqual(['?team=a', '?team=a&alt=sse'])
  })

  test('the key travels in its header alone, without the white space around it', async () => {
    const { chat, upstream } = await googleGateway({}, 'AIza-canary \n')
    upstream.next(json(saying('Hi')))
    await chat(asking())
    const [request] = upstream.requests
    expect(request?.headers['x-goog-api-key']).toBe('AIza-canary')
    expect(request?.headers).not.toHaveProperty('authorization')
    expect(request?.url).not.toContain('canary')
  })

  test('gemini is another name of the kind', async () => {
    const { chat, upstream } = await googleGateway({ kind: 'gemini' })
    upstream.next(json(saying('Hi')))
    expect((await chat(asking())).status).toBe(200)
  })
})

describe('sampling and limits', () => {
  test('every field has its counterpart', async () => {
    const fields = {
      max_tokens: 9,
      temperature: 0,
      top_p: 0.5,
      top_k: 40,
      stop: ['a', '', 'b'],
      seed: 7,
      n: 2,
      logprobs: true,
      top_logprobs: 0,
      modalities: ['text', 'image'],
    }
    expect(await configSent(fields)).toEqual({
      maxOutputTokens: 9,
      temperature: 0,
      topP: 0.5,
      topK: 40,
      stopSequences: ['a', 'b'],
      seed: 7,
      candidateCount: 2,
      responseLogprobs: true,
      logprobs: 0,
      responseModalities: ['TEXT', 'IMAGE'],
    })
  })

  test.each([
    ['nothing said', {}],
    ['null', { temperature: null, stop: null, seed: null, modalities: null }],
    [
      'neutral values',
      { n: 1, presence_penalty: 0, frequency_penalty: 0, stop: '', modalities: ['text'] },
    ],
  ])('%s sends no generationConfig', async (_, fields) => {
    expect(await configSent(fields)).toBeUndefined()
    expect(await configSent(fields, 'gemini-2.0-flash')).toBeUndefined()
  })

  test.each([
    [7, 7],
    [-1, -1],
    [2 ** 31, -(2 ** 31)],
    [2 ** 32 + 5, 5],
  ])('the seed %d is folded to %d', async (seed, expected) => {
    expect(await configSent({ seed })).toEqual({ seed: expected })
  })

  test.each([
    ['seed', 1.5],
    ['temperature', 'hot'],
    ['stop', 5],
    ['modalities', 'text'],
  ])('%s of the wrong type is refused', async (field, value) => {
    expect(await refused(asking({ [field]: value }))).toMatchObject({
      code: 'LM-1001',
      param: field,
    })
  })

  test.each([
    ['gemini-2.0-flash', { presencePenalty: 0.5, frequencyPenalty: -1 }],
    ['gemini-2.5-flash', undefined],
    ['gemini-3-pro-preview', undefined],
  ])('penalties for %s', async (upstreamId, expected) => {
    const fields = { presence_penalty: 0.5, frequency_penalty: -1 }
    expect(await configSent(fields, upstreamId)).toEqual(expected)
  })

  test.each([
    ['gemini-3.5-flash', { temperature: 0.5, topP: 0.5, topK: 5 }],
    ['gemini-3.5-flash-lite', undefined],
    ['gemini-3.6-flash', undefined],
    ['gemini-3.10-flash', undefined],
    ['gemini-flash-latest', undefined],
    ['models/Gemini-Flash-Latest', undefined],
    ['gemini-pro', { temperature: 0.5, topP: 0.5, topK: 5 }],
  ])('sampling for %s', async (upstreamId, expected) => {
    expect(await configSent({ temperature: 0.5, top_p: 0.5, top_k: 5 }, upstreamId)).toEqual(
      expected,
    )
  })

  test.each([
    ['flex', 'flex'],
    ['priority', 'priority'],
    ['default', 'standard'],
    ['auto', undefined],
    ['scale', undefined],
  ])('the service tier %s is %s', async (service_tier, expected) => {
    expect((await sent(asking({ service_tier }))).serviceTier).toBe(expected)
  })
})

describe('reasoning effort', () => {
  const budgets = [0, 1024, 1024, 8192, 24576, 24576]
  const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh']
  const shown = { includeThoughts: true }

  async function thinking(upstreamId: string) {
    const configs = efforts.map((reasoning_effort) => configSent({ reasoning_effort }, upstreamId))
    return (await Promise.all(configs)).map((config) => config?.['thinkingConfig'])
  }

  test.each([
    ['gemini-2.5-flash', budgets],
    ['gemini-2.5-pro', [128, ...budgets.slice(1)]],
    ['gemini-robotics-er-1.5-preview', budgets],
  ])('is a budget for %s', async (upstreamId, expected) => {
    expect(await thinking(upstreamId)).toEqual(
      expected.map((thinkingBudget, at) => ({ thinkingBudget, ...(at > 0 && shown) })),
    )
  })

  test.each([
    ['gemini-3-pro-preview', ['LOW', 'LOW', 'LOW', 'HIGH', 'HIGH', 'HIGH']],
    ['gemini-3.1-pro', ['LOW', 'LOW', 'LOW', 'MEDIUM', 'HIGH', 'HIGH']],
    ['gemini-3.6-flash', ['MINIMAL', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH', 'HIGH']],
    ['gemini-3.7-flash', ['LOW', 'LOW', 'LOW', 'MEDIUM', 'HIGH', 'HIGH']],
    ['gemini-3.8-flash-lite', ['MINIMAL', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH', 'HIGH']],
    ['gemini-flash-latest', ['LOW', 'LOW', 'LOW', 'MEDIUM', 'HIGH', 'HIGH']],
  ])('is a level for %s', async (upstreamId, expected) => {
    expect(await thinking(upstreamId)).toEqual(
      expected.map((thinkingLevel, at) => ({ thinkingLevel, ...(at > 0 && shown) })),
    )
  })

  test.each<[string, object, object]>([
    [
      'shows thoughts without an effort',
      { google: { thinking_config: { include_thoughts: true } } },
      { includeThoughts: true },
    ],
    [
      'wins over the effort, of which no budget stays beside a level',
      {
        reasoning_effort: 'high',
        extra_body: { google: { thinking_config: { thinking_level: 'low' } } },
      },
      { thinkingLevel: 'LOW' },
    ],
    [
      'hides thoughts at the depth of the effort',
      { reasoning_effort: 'low', google: { thinking_config: { include_thoughts: false } } },
      { thinkingBudget: 1024, includeThoughts: false },
    ],
    [
      'at the top level wins over extra_body',
      {
        google: { thinking_config: { thinking_budget: -1 } },
        extra_body: { google: { thinking_config: { thinking_budget: 5 } } },
      },
      { thinkingBudget: -1 },
    ],
  ])("google's own thinking_config %s", async (_, fields, expected) => {
    const config = await configSent(fields, 'gemini-2.5-flash')
    expect(config?.['thinkingConfig']).toEqual(expected)
  })

  test('a thinking_config of a wrong type is refused with its place', async () => {
    const extra_body = { google: { thinking_config: { thinking_budget: 'much' } } }
    expect((await refused(asking({ extra_body })))['param']).toBe(
      'extra_body.google.thinking_config.thinking_budget',
    )
  })

  test.each(['gemini-2.0-flash', 'gemini-3-pro-image-preview', 'gemma-3-27b-it', 'mine'])(
    'cannot be asked of %s',
    async (upstreamId) => {
      expect(await thinking(upstreamId)).toEqual(efforts.map(() => undefined))
      const request = asking({ reasoning_effort: 'low' })
      expect((await refused(request, { upstreamId, strict: true }))['param']).toBe(
        'reasoning_effort',
      )
    },
  )
})

describe('tools', () => {
  function declared({ tools }: SentBody) {
    return tools?.[0].functionDeclarations.map(({ name }) => name)
  }

  test('all functions stand in one tool, descriptions only when they say something', async () => {
    const described = { type: 'function', function: { name: 'a', description: 'Does a' } }
    const silent = { type: 'function', function: { name: 'b', description: '' } }
    const { tools } = await sent(asking({ tools: [described, silent] }))
    expect(tools).toEqual([
      { functionDeclarations: [{ name: 'a', description: 'Does a' }, { name: 'b' }] },
    ])
  })

  test('no functions, no fields', async () => {
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
    ['none but some', allowing('auto', 'clock'), undefined, ['clock']],
  ])('a choice of %s', async (_, tool_choice, config, names) => {
    const body = await sent(asking({ tools: [weather, clock], tool_choice }))
    expect(body.toolConfig).toEqual(config && { functionCallingConfig: config })
    expect(declared(body)).toEqual(names)
  })

  test.each([
    ['named', { type: 'function', function: { name: 'other' } }],
    ['allowed', allowing('auto', 'weather', 'other')],
  ])('a function that is %s must be one of the tools', async (_, tool_choice) => {
    const request = asking({ tools: [weather], tool_choice })
    expect(await refused(request)).toMatchObject({ code: 'LM-1001', param: 'tool_choice' })
  })

  test('the legacy fields are understood', async () => {
    const body = await sent(
      asking({ functions: [{ name: 'a', description: 'Does a' }], function_call: { name: 'a' } }),
    )
    expect(body.tools).toEqual([{ functionDeclarations: [{ name: 'a', description: 'Does a' }] }])
    expect(body.toolConfig).toEqual({
      functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['a'] },
    })
  })
})

describe('response format', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  const asJson = { responseMimeType: 'application/json' }
  const openApi = { type: 'OBJECT', properties: { a: { type: 'STRING' } } }

  test.each([
    ['text', { type: 'text' }, undefined],
    ['any JSON', { type: 'json_object' }, asJson],
    ['JSON of an unnamed shape', { type: 'json_schema', json_schema: { name: 'x' } }, asJson],
    [
      'JSON of a shape that allows all',
      { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } },
      asJson,
    ],
    [
      'JSON of a shape',
      { type: 'json_schema', json_schema: { name: 'x', strict: true, schema } },
      { ...asJson, responseSchema: openApi },
    ],
  ])('%s', async (_, response_format, expected) => {
    expect(await configSent({ response_format })).toEqual(expected)
    expect(await configSent({ response_format }, 'gemini-2.0-flash')).toEqual(expected)
  })

  test('functions that are all held back leave room for a format', async () => {
    const tool_choice = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } }
    const response_format = { type: 'json_object' }
    expect(await configSent({ tools: [weather], tool_choice, response_format })).toEqual(asJson)
  })
})

describe('strict', () => {
  const refusedParam = async (fields: object, upstreamId?: string) =>
    (await refused(asking(fields), { strict: true, upstreamId }))['param']

  test.each([
    ['logit_bias', { 5: 1 }],
    ['parallel_tool_calls', false],
    ['prediction', { type: 'content', content: 'x' }],
    ['store', true],
    ['verbosity', 'high'],
    ['web_search_options', {}],
    ['audio', { voice: 'alloy' }],
    ['presence_penalty', 0.5],
    ['frequency_penalty', 0.5],
    ['top_logprobs', 3],
    ['service_tier', 'scale'],
  ])('%s cannot be honoured', async (field, value) => {
    expect(await refusedParam({ [field]: value })).toBe(field)
    expect(JSON.stringify(await sent(asking({ [field]: value })))).not.toContain(field)
  })

  test.each([
    ['n', 2],
    ['temperature', 0.5],
    ['top_p', 0.5],
    ['top_k', 5],
  ])('%s cannot be honoured by newer models', async (field, value) => {
    expect(await refusedParam({ [field]: value }, 'gemini-3.8-flash')).toBe(field)
  })

  test('parts of tools are named by their place', async () => {
    const strict = { type: 'function', function: { name: 'a', strict: true } }
    expect(await refusedParam({ tools: [weather, strict] })).toBe('tools.1.function.strict')
    expect(await refusedParam({ tools: [weather, { type: 'web_search' }] })).toBe('tools.1')
  })

  test('JSON beside tools cannot be honoured by older models', async () => {
    const fields = { tools: [weather], response_format: { type: 'json_object' } }
    expect(await refusedParam(fields)).toBe('response_format')
    await sent(asking(fields), { strict: true, upstreamId: 'gemini-3-flash' })
  })

  test('what changes no answer is never refused, nor sent', async () => {
    const fields = {
      user: 'u',
      safety_identifier: 's',
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      unknown_field: 1,
      stream_options: { include_usage: true },
      n: 1,
      service_tier: 'default',
      top_logprobs: 0,
      verbosity: 'medium',
      tools: [{ type: 'function', function: { name: 'a', strict: false } }],
    }
    const body = await sent(asking(fields), { strict: true })
    expect(Object.keys(body).toSorted()).toEqual(['contents', 'serviceTier', 'tools'])
  })
})
