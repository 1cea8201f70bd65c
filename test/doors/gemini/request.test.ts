import { describe, expect, test } from 'vitest'
import { completion } from '../../support/answers.ts'
import { json } from '../../support/scripted-upstream.ts'
import { asking, geminiGateway, links, post } from './support.ts'

/** The chat request that an upstream of the OpenAI format gets. */
async function translate(body: unknown, model = 'm'): Promise<Record<string, unknown>> {
  const gateway = await geminiGateway()
  gateway.upstream.next(json(completion()))
  const response = await post(gateway, body, { path: `/v1beta/models/${model}:generateContent` })
  expect([response.status, await response.text()]).toEqual([200, expect.anything()])
  return gateway.upstream.body() as Record<string, unknown>
}

async function refuse(body: unknown): Promise<{ message: string; param: unknown }> {
  const gateway = await geminiGateway()
  const response = await post(gateway, body)
  expect(response.status).toBe(400)
  expect(gateway.upstream.requests).toEqual([])
  const { error } = await response.json()
  return { message: error.message, param: error.details[0].metadata.param }
}

const schema = {
  type: 'OBJECT',
  properties: {
    path: { type: 'STRING', nullable: true },
    title: { type: 'INTEGER' },
    many: { type: 'ARRAY', items: { type: 'NUMBER' }, maxItems: '3' },
  },
  required: ['path'],
  propertyOrdering: ['path'],
}

describe('a request becomes a chat request', () => {
  test('with its system text, settings, functions and format', async () => {
    const sent = await translate(
      asking({
        systemInstruction: { role: 'user', parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] },
        tools: [
          { functionDeclarations: [{ name: 'read', description: 'Reads', parameters: schema }] },
        ],
        toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['read'] } },
        generationConfig: {
          maxOutputTokens: '100',
          temperature: 0.5,
          topP: 0.9,
          topK: 64,
          stopSequences: ['END'],
          seed: 7,
          responseMimeType: 'application/json',
          responseJsonSchema: { type: 'OBJECT', properties: { a: { type: 'BOOLEAN' } } },
        },
        safetySettings: [],
      }),
    )
    expect(sent).toMatchObject({
      model: 'upstream-m',
      messages: [
        { role: 'system', content: 'Be brief.\n\nBe kind.' },
        { role: 'user', content: 'Hi' },
      ],
      max_completion_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      stop: ['END'],
      seed: 7,
      tool_choice: { type: 'function', function: { name: 'read' } },
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'response',
          schema: { type: 'object', properties: { a: { type: 'boolean' } } },
        },
      },
    })
    expect(sent['tools']).toEqual([
      {
        type: 'function',
        function: {
          name: 'read',
          description: 'Reads',
          parameters: {
            type: 'object',
            properties: {
              path: { type: ['string', 'null'] },
              title: { type: 'integer' },
              many: { type: 'array', items: { type: 'number' }, maxItems: 3 },
            },
            required: ['path'],
          },
        },
      },
    ])
  })

  test('in either spelling, at every level', async () => {
    const sent = await translate({
      contents: [
        {
          role: 'user',
          parts: [{ text: 'Look' }, { inlineData: { mime_type: 'image/png', data: 'AAA_' } }],
        },
      ],
      system_instruction: 'Be brief.',
      tools: [
        {
          function_declarations: [
            { name: 'f', parameters_json_schema: { type: 'object', properties: { a_b: {} } } },
          ],
        },
      ],
      generation_config: { max_output_tokens: 9, thinkingConfig: { include_thoughts: true } },
    })
    expect(sent).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAA/' } },
          ],
        },
      ],
      max_completion_tokens: 9,
      tools: [{ function: { parameters: { properties: { a_b: {} } } } }],
    })
  })

  test('whose results without ids belong to the calls of their name, in order', async () => {
    const sent = await translate({
      contents: [
        { parts: [{ text: 'Go' }] },
        {
          role: 'model',
          parts: [{ functionCall: { name: 'a', args: { n: 1 } } }, { functionCall: { name: 'b' } }],
        },
        {
          role: 'model',
          parts: [{ functionCall: { id: 'own', name: 'a', args: { n: 2 } } }, { text: '' }],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'a', response: { output: 'first' } } },
            { functionResponse: { name: 'a', response: { result: 'second' } } },
            { functionResponse: { name: 'b', response: { error: 'broken' } } },
            { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
          ],
        },
      ],
    })
    expect(sent['messages']).toMatchObject([
      { role: 'user', content: 'Go' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_1', function: { name: 'a', arguments: '{"n":1}' } },
          { id: 'call_2', function: { name: 'b', arguments: '{}' } },
          { id: 'own', function: { name: 'a', arguments: '{"n":2}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'first' },
      { role: 'tool', tool_call_id: 'call_2', content: expect.stringContaining('broken') },
      { role: 'tool', tool_call_id: 'own', content: 'second' },
      { role: 'user', content: [{ type: 'image_url' }] },
    ])
  })

  test('with the exact text of arguments and responses', async () => {
    const contents = `[{"parts":[{"text":"Go"}]},
      {"role":"model","parts":[{"function_call":{"name":"a","args":{"n":12345678901234567890,"x":1.0}}}]},
      {"role":"user","parts":[{"functionResponse":{"name":"a","response":{"n":1.50,"m":98765432109876543210}}}]}]`
    const sent = await translate(`{"contents":${contents}}`)
    expect(sent['messages']).toMatchObject([
      {},
      { tool_calls: [{ function: { arguments: '{"n":12345678901234567890,"x":1.0}' } }] },
      { content: '{"n":1.50,"m":98765432109876543210}' },
    ])
  })

  test('whose lists may be one item, and whose numbers may be texts', async () => {
    const body = `{"contents":[{"parts":{"text":"Go"}},
      {"role":"model","parts":{"functionCall":{"id":"a","name":"f","args":{"n":12345678901234567890}}}},
      {"parts":{"function_response":{"id":"a","name":"f","response":{"n":1.50},"parts":{"inlineData":{"mimeType":"image/png","data":"AAAA"}}}}}],
      "tools":{"function_declarations":{"name":"f"}},
      "toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":"f"}},
      "generationConfig":{"stopSequences":"END","temperature":"0.5","topP":"9e-1","candidateCount":"0","responseModalities":"TEXT"}}`
    expect(await translate(body)).toMatchObject({
      messages: [
        { content: 'Go' },
        { tool_calls: [{ function: { arguments: '{"n":12345678901234567890}' } }] },
        { role: 'tool', content: expect.stringContaining('{"n":1.50}') },
        { content: [{ type: 'text' }, { type: 'image_url' }] },
      ],
      tools: [{ function: { name: 'f' } }],
      tool_choice: { function: { name: 'f' } },
      stop: ['END'],
      temperature: 0.5,
      top_p: 0.9,
    })
    const single = `{"contents":{"role":"model","parts":{"functionCall":{"name":"f","args":{"n":1.0}}}}}`
    expect(await translate(single)).toMatchObject({
      messages: [{ tool_calls: [{ function: { arguments: '{"n":1.0}' } }] }, {}],
    })
  })

  test.each([
    ['responseJsonSchema', { responseJsonSchema: { type: 'OBJECT' } }],
    ['_responseJsonSchema', { _responseJsonSchema: { type: 'OBJECT' } }],
    ['responseSchema', { responseSchema: { type: 'OBJECT' } }],
    [
      'responseFormat',
      { responseFormat: [{ text: { mimeType: 'APPLICATION_JSON', schema: { type: 'OBJECT' } } }] },
    ],
    ['response_format', { response_format: { text: { schema: { type: 'OBJECT' } } } }],
  ])('with the schema in %s', async (_, fields) => {
    const generationConfig = { responseMimeType: 'application/json', ...fields }
    expect((await translate(asking({ generationConfig })))['response_format']).toEqual({
      type: 'json_schema',
      json_schema: { name: 'response', schema: { type: 'object' } },
    })
  })

  test('with schemas whose names are members of every object, and types that are not given', async () => {
    const parameters = `{"type":"OBJECT","constructor":1,"__proto__":{"a":1},"properties":{
      "__proto__":{"type":"STRING"},"a":{"type":"TYPE_UNSPECIFIED"},"b":{"type":0},
      "c":{"anyOf":[{"type":"STRING"}],"nullable":true}}}`
    const sent = await translate(
      `{"contents":"Hi","tools":[{"functionDeclarations":[{"name":"f","parameters":${parameters}}]}]}`,
    )
    expect(JSON.stringify(sent['tools'])).toContain(
      '{"type":"object","constructor":1,"__proto__":{"a":1},"properties":{"__proto__":{"type":"string"},"a":{},"b":{},"c":{"anyOf":[{"type":"string"},{"type":"null"}]}}}',
    )
  })

  test('whose results have ids that their calls have lost', async () => {
    const sent = await translate({
      contents: [
        { parts: [{ text: 'Go' }] },
        { role: 'model', parts: [{ functionCall: { name: 'f' } }] },
        { parts: [{ functionResponse: { id: 'x', name: 'f', response: { output: 'y' } } }] },
      ],
    })
    expect(sent['messages']).toMatchObject([{}, {}, { tool_call_id: 'call_1', content: 'y' }])
  })

  test.each([
    [{ thinkingLevel: 'LOW' }, { thinking: { type: 'enabled', budget_tokens: 1024 } }],
    [{ thinkingBudget: 0 }, { thinking: { type: 'disabled' } }],
    [{ thinkingBudget: 8000 }, { thinking: { type: 'enabled', budget_tokens: 8000 } }],
  ])('with thinking as the vendor of its link says it: %j', async (thinkingConfig, expected) => {
    const gateway = await geminiGateway()
    gateway.upstream.next(
      json({
        id: 'msg',
        type: 'message',
        role: 'assistant',
        model: 'c',
        content: [{ type: 'text', text: 'Hi' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 1, output_tokens: 1 },
      }),
    )
    const body = asking({ generationConfig: { maxOutputTokens: 10_000, thinkingConfig } })
    await post(gateway, body, { path: '/v1beta/models/claude:generateContent' })
    const { thinking } = gateway.upstream.body() as Record<string, unknown>
    expect({ thinking }).toEqual(expected)
  })

  const nested = {
    type: 'OBJECT',
    properties: { a: { type: 'ARRAY', items: { type: 'STRING', nullable: true } } },
    required: ['a'],
  }
  const strictly = {
    type: 'object',
    properties: { a: { type: 'array', items: { type: ['string', 'null'] } } },
    required: ['a'],
    additionalProperties: false,
  }
  const none = { type: 'object', properties: {}, required: [], additionalProperties: false }
  const optional = { type: 'object', properties: { a: { type: 'string' } } }
  test.each([
    ['with all properties', nested, { strict: true, parameters: strictly }],
    ['without parameters', undefined, { strict: true, parameters: none }],
    ['with an optional property', optional, { parameters: optional }],
    [
      'with other properties',
      { type: 'object', properties: {}, additionalProperties: true },
      { parameters: { type: 'object', properties: {}, additionalProperties: true } },
    ],
    [
      'with a part that is open',
      { type: 'object', properties: { a: optional }, required: ['a'] },
      { parameters: { type: 'object', properties: { a: optional }, required: ['a'] } },
    ],
    [
      'with a rule of another kind',
      { type: 'object', properties: {}, minProperties: 1 },
      { parameters: { type: 'object', properties: {}, minProperties: 1 } },
    ],
  ])('with a function %s that is to be validated', async (_, parameters, expected) => {
    const gateway = await geminiGateway()
    gateway.upstream.next(json(completion()))
    const tools = [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: parameters }] }]
    const toolConfig = { functionCallingConfig: { mode: 'VALIDATED' } }
    const response = await post(gateway, asking({ tools, toolConfig }))
    expect(gateway.upstream.body()).toMatchObject({ tool_choice: 'auto' })
    const sent = gateway.upstream.body() as { tools: { function: object }[] }
    expect(sent.tools[0]?.function).toEqual({ name: 'f', ...expected })
    const dropped = 'strict' in expected ? null : 'toolConfig.functionCallingConfig.mode'
    expect(response.headers.get('x-gateway-dropped')).toBe(dropped)
  })

  test('whose validated functions say so where the upstream cannot hold a model to them', async () => {
    const gateway = await geminiGateway(
      links.replace('name = "p"', 'name = "p"\nprofile = { strict_tools = false }'),
    )
    gateway.upstream.next(json(completion()))
    const functionDeclarations = [{ name: 'f' }, { name: 'g' }]
    const toolConfig = {
      functionCallingConfig: { mode: 4, allowedFunctionNames: ['f'] },
    }
    const response = await post(gateway, asking({ tools: [{ functionDeclarations }], toolConfig }))
    expect(response.headers.get('x-gateway-dropped')).toBe('toolConfig.functionCallingConfig.mode')
  })

  test.each([
    [{ responseLogprobs: true, logprobs: '2' }, { logprobs: true, top_logprobs: 2 }, null],
    [{ responseLogprobs: true }, { logprobs: true }, null],
    [{ responseLogprobs: false, logprobs: 2 }, {}, 'generationConfig.logprobs'],
  ])('with log probabilities: %o', async (generationConfig, expected, dropped) => {
    const gateway = await geminiGateway()
    gateway.upstream.next(json(completion()))
    const response = await post(gateway, asking({ generationConfig }))
    const { logprobs, top_logprobs } = gateway.upstream.body() as Record<string, unknown>
    expect({ logprobs, top_logprobs }).toEqual({
      logprobs: undefined,
      top_logprobs: undefined,
      ...expected,
    })
    expect(response.headers.get('x-gateway-dropped')).toBe(dropped)
  })

  test('whose log probabilities a model does not have, by their own paths', async () => {
    const gateway = await geminiGateway()
    gateway.upstream.next(
      json({
        type: 'message',
        role: 'assistant',
        content: [{ type: 'text', text: 'x' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 1, output_tokens: 1 },
      }),
    )
    const generationConfig = { responseLogprobs: true, logprobs: 2 }
    const path = '/v1beta/models/claude:generateContent'
    const response = await post(gateway, asking({ generationConfig }), { path })
    expect(response.headers.get('x-gateway-dropped')).toBe(
      'generationConfig.responseLogprobs,generationConfig.logprobs',
    )
  })

  test('and names what it leaves out in its own paths', async () => {
    const gateway = await geminiGateway()
    gateway.upstream.next(json(completion()))
    const response = await post(
      gateway,
      asking({
        tools: [{ codeExecution: {} }],
        safetySettings: [{ category: 'x' }],
        labels: { a: 'b' },
        generationConfig: {
          mediaResolution: 'LOW',
          topK: 64,
          thinkingConfig: { thinkingLevel: 2 },
        },
        contents: [{ parts: [{ text: 'Hi', videoMetadata: { fps: 1 } }] }],
        toolConfig: { includeServerSideToolInvocations: true },
      }),
    )
    expect(response.headers.get('x-gateway-dropped')).toBe(
      [
        'safetySettings',
        'labels',
        'generationConfig.mediaResolution',
        'generationConfig.thinkingConfig.thinkingLevel',
        'toolConfig.includeServerSideToolInvocations',
        'contents.0.parts.0.videoMetadata',
        'tools.0.codeExecution',
      ].join(),
    )
  })
})

test('contents of one role with very many parts become one message', async () => {
  const parts = Array.from({ length: 180_000 }, () => ({}))
  const { messages } = await translate({
    contents: [
      { role: 'user', parts: [{ text: 'Hi' }] },
      { role: 'user', parts },
    ],
  })
  expect(messages).toEqual([{ role: 'user', content: 'Hi' }])
})

describe('a request is refused', () => {
  test.each([
    [
      'a name in both spellings',
      asking({ generationConfig: { topP: 1, top_p: 1 } }),
      'generationConfig.topP',
    ],
    [
      'both forms of the settings',
      asking({ generationConfig: {}, generation_config: {} }),
      'generationConfig',
    ],
    [
      'a name in two forms of one spelling',
      asking({ generationConfig: { max_output_tokens: 9, maxOutput_tokens: 1 } }),
      'generationConfig.maxOutputTokens',
    ],
    [
      'a bound that no number holds',
      asking({ generationConfig: { maxOutputTokens: '9'.repeat(30) } }),
      'generationConfig.maxOutputTokens',
    ],
    ['a list in place of an object', asking({ generationConfig: [{}] }), 'generationConfig'],
    [
      'a repeated bound',
      '{"contents":[{"parts":[]}],"generationConfig":{"maxOutputTokens":1,"maxOutputTokens":9}}',
      'generationConfig.maxOutputTokens',
    ],
    ['no contents', { model: 'm' }, 'contents'],
    ['contents of another type', { contents: 5 }, 'contents'],
    [
      'a text that is none',
      asking({ contents: [{ parts: [{ text: 5 }] }] }),
      'contents.0.parts.0.text',
    ],
    [
      'a result without a call',
      asking({ contents: [{ parts: [{ functionResponse: { name: 'a', response: {} } }] }] }),
      'contents.0.parts.0.functionResponse',
    ],
    [
      'content that only Google has',
      asking({ cachedContent: 'cachedContents/1' }),
      'cachedContent',
    ],
    [
      'a picture as system text',
      asking({
        systemInstruction: { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
      }),
      'systemInstruction.parts.0',
    ],
  ])('%s', async (_, body, param) => {
    const refusal = await refuse(body)
    expect(refusal.param).toBe(param)
    expect(refusal.message).toContain(param.split('.').at(-1))
  })
})
