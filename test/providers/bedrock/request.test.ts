import { describe, expect, test } from 'vitest'
import { errorOf } from '../../support/gateway.ts'
import { json } from '../../support/scripted-upstream.ts'
import { answered, asking, bedrockGateway, type Setup, sonnet } from './support.ts'

const opus48 = 'us.anthropic.claude-opus-4-8-v1:0'
const opus55 = 'us.anthropic.claude-opus-5-5-v1:0'
const sonnet5 = 'us.anthropic.claude-sonnet-5-v1:0'
const haiku3 = 'anthropic.claude-3-haiku-20240307-v1:0'
const nova = 'us.amazon.nova-pro-v1:0'
const nova2 = 'us.amazon.nova-2-lite-v1:0'
const llama = 'us.meta.llama3-3-70b-instruct-v1:0'
const mistralLarge = 'mistral.mistral-large-2402-v1:0'
const gptOss = 'openai.gpt-oss-120b-1:0'
const gpt = 'openai.gpt-6-v1:0'
const qwen = 'qwen.qwen3-32b-v1:0'
const deepseek = 'us.deepseek.v3-v1:0'
const profile = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123xyz'

/** The body that these fields of a request become for a model. */
async function sent(upstreamId: string, fields: object, setup: Setup = {}): Promise<Body> {
  const { chat, upstream } = await bedrockGateway({ ...setup, upstreamId })
  upstream.next(json(answered([{ text: 'Hi' }])))
  const response = await chat({ ...asking(fields), model: setup.id ?? 'm' })
  expect(response.status, await response.clone().text()).toBe(200)
  // Every member that a test asks for is compared.
  return upstream.body() as Body
}

interface Body {
  readonly system?: unknown
  readonly messages: unknown
  readonly inferenceConfig?: unknown
  readonly toolConfig?: unknown
  readonly additionalModelRequestFields?: unknown
  readonly outputConfig?: unknown
  readonly serviceTier?: unknown
}

/** The fields that a strict provider refuses, one after another. */
async function refused(upstreamId: string, fields: object): Promise<unknown> {
  const { chat, upstream } = await bedrockGateway({ upstreamId, strict: true })
  upstream.always(json(answered([{ text: 'Hi' }])))
  const response = await chat(asking(fields))
  if (response.status === 200) return undefined
  expect(response.status).toBe(400)
  expect(upstream.requests).toEqual([])
  const { code, param } = await errorOf(response)
  expect(code).toBe('LM-1001')
  return param
}

describe('sampling', () => {
  const both = { temperature: 0.5, top_p: 0.9 }

  test.each([
    ['one of two on Claude', sonnet, both, { temperature: 0.5 }, 'top_p'],
    ['top_p alone on Claude', sonnet, { top_p: 0.9 }, { topP: 0.9 }, undefined],
    ['both on others', llama, both, { temperature: 0.5, topP: 0.9 }, undefined],
    ['clamped', llama, { temperature: 1.9 }, { temperature: 1 }, 'temperature'],
    ['zero', llama, { temperature: 0, top_p: 0 }, { temperature: 0, topP: 0 }, undefined],
    ['none on newer Claude', opus48, { temperature: 0.2 }, undefined, 'temperature'],
    ['defaults on newer Claude', opus48, { temperature: 1, top_p: 0.99 }, undefined, undefined],
    ['none on OpenAI', gpt, { top_p: 0.2 }, undefined, 'top_p'],
    ['as it is on gpt-oss', gptOss, { temperature: 0.2 }, { temperature: 0.2 }, undefined],
    ['a limit', llama, { max_completion_tokens: 7 }, { maxTokens: 7 }, undefined],
    ['stops', llama, { stop: 'a' }, { stopSequences: ['a'] }, undefined],
    ['blank stops', llama, { stop: ['', ' '] }, { stopSequences: [' '] }, undefined],
    ['blank stops on Claude', sonnet, { stop: ['', '\n', 'x'] }, { stopSequences: ['x'] }, 'stop'],
    ['stops on OpenAI', gptOss, { stop: ['x'] }, undefined, 'stop'],
    ['nothing', llama, { stop: [], temperature: null }, undefined, undefined],
  ])('%s', async (_, model, fields, config, param) => {
    expect((await sent(model, fields)).inferenceConfig).toEqual(config)
    expect(await refused(model, fields)).toBe(param)
  })

  test.each([
    ['Claude', sonnet, { top_k: 5 }],
    ['Nova', nova, { inferenceConfig: { topK: 5 } }],
    ['newer Claude', opus48, undefined],
    ['others', llama, undefined],
  ])('top_k on %s', async (_, model, fields) => {
    expect((await sent(model, { top_k: 5 })).additionalModelRequestFields).toEqual(fields)
    expect(await refused(model, { top_k: 5 })).toBe(fields ? undefined : 'top_k')
  })
})

describe('reasoning', () => {
  const budget = (budget_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens } })
  const adaptive = (effort: string) => ({
    thinking: { type: 'adaptive', display: 'summarized' },
    output_config: { effort },
  })

  test.each([
    ['Claude by budget', sonnet, 'high', budget(4096), { maxTokens: 8192 }],
    ['Claude that judges for itself', opus48, 'xhigh', adaptive('xhigh'), undefined],
    ['Claude that cannot', haiku3, 'high', undefined, undefined],
    ['Claude without', sonnet, 'none', { thinking: { type: 'disabled' } }, undefined],
    ['Claude that must', opus55, 'none', { output_config: { effort: 'low' } }, undefined],
    ['Nova 2', nova2, 'low', { reasoningConfig: enabled('low') }, undefined],
    ['Nova 2 without', nova2, 'none', { reasoningConfig: { type: 'disabled' } }, undefined],
    ['Nova', nova, 'low', undefined, undefined],
    ['gpt-oss', gptOss, 'minimal', { reasoning_effort: 'low' }, undefined],
    ['OpenAI', gpt, 'xhigh', { reasoning: { effort: 'xhigh' } }, undefined],
    ['Qwen3', qwen, 'minimal', { reasoning_config: 'low' }, undefined],
    ['Qwen3', qwen, 'max', { reasoning_config: 'high' }, undefined],
    ['others', llama, 'low', undefined, undefined],
  ])('%s', async (_, model, reasoning_effort, fields, config) => {
    const body = await sent(model, { reasoning_effort })
    expect(body.additionalModelRequestFields).toEqual(fields)
    expect(body.inferenceConfig).toEqual(config)
    const param = fields ? undefined : 'reasoning_effort'
    expect(await refused(model, { reasoning_effort })).toBe(param)
  })

  test('Qwen3 has no value for none, and needs none', async () => {
    expect(await sent(qwen, { reasoning_effort: 'none' })).not.toHaveProperty(
      'additionalModelRequestFields',
    )
    expect(await refused(qwen, { reasoning_effort: 'none' })).toBe(undefined)
  })

  test('comes on top of the client’s own limit', async () => {
    const fields = { reasoning_effort: 'medium', max_tokens: 100 }
    expect((await sent(sonnet, fields)).inferenceConfig).toEqual({ maxTokens: 2148 })
  })

  test('at its highest on Nova goes without a limit', async () => {
    const fields = { reasoning_effort: 'max', max_tokens: 100 }
    expect(await sent(nova2, fields)).toMatchObject({
      additionalModelRequestFields: { reasoningConfig: enabled('high') },
    })
    expect((await sent(nova2, fields)).inferenceConfig).toBeUndefined()
    expect(await refused(nova2, fields)).toBe('max_tokens')
  })

  test('leaves no room for sampling', async () => {
    const fields = { reasoning_effort: 'low', temperature: 0.1, top_k: 4, max_tokens: 9 }
    expect((await sent(sonnet, fields)).inferenceConfig).toEqual({ maxTokens: 1033 })
    expect((await sent(sonnet, fields)).additionalModelRequestFields).toEqual(budget(1024))
    const off = { reasoning_effort: 'none', temperature: 0.1 }
    expect((await sent(sonnet, off)).inferenceConfig).toEqual({ temperature: 0.1 })
  })

  test('in the vendor’s own words is passed on as it is', async () => {
    const thinking = { type: 'enabled', budget_tokens: 2000 }
    const body = await sent(sonnet, { thinking, max_tokens: 3000, reasoning_effort: 'max' })
    expect(body.additionalModelRequestFields).toEqual({ thinking })
    expect(body.inferenceConfig).toEqual({ maxTokens: 3000 })
    expect((await sent(llama, { thinking })).additionalModelRequestFields).toBeUndefined()
    const { chat } = await bedrockGateway()
    expect(await errorOf(await chat(asking({ thinking: true })))).toMatchObject({
      code: 'LM-1001',
      param: 'thinking',
    })
  })

  const calling = {
    role: 'assistant',
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
  }
  const conversation = (assistant: object) => ({
    messages: [
      { role: 'user', content: 'Hi' },
      assistant,
      { role: 'tool', tool_call_id: 'c', content: '1' },
    ],
    tools: [{ type: 'function', function: { name: 'f' } }],
    reasoning_effort: 'low',
  })

  test('is not begun amid calls that came without it', async () => {
    const body = await sent(sonnet, conversation(calling))
    expect(body.additionalModelRequestFields).toBeUndefined()
    expect(body.inferenceConfig).toBeUndefined()
  })

  test('goes on where it was broken off, with its signatures', async () => {
    const thinking_blocks = [
      { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
      { type: 'thinking', thinking: 'unsigned' },
      { type: 'redacted_thinking', data: 'AAAA' },
    ]
    const body = await sent(sonnet, conversation({ ...calling, thinking_blocks }))
    expect(body.additionalModelRequestFields).toEqual(budget(1024))
    expect(body.messages).toMatchObject([
      {},
      {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'c2ln' } } },
          { reasoningContent: { redactedContent: 'AAAA' } },
          { toolUse: { toolUseId: 'c' } },
        ],
      },
      {},
    ])
    expect(
      JSON.stringify(await sent(nova, conversation({ ...calling, thinking_blocks }))),
    ).not.toContain('reasoningContent')
  })
})

function enabled(maxReasoningEffort: string): object {
  return { type: 'enabled', maxReasoningEffort }
}

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
    ['a named one', sonnet, named, { tools, toolChoice: { tool: { name: 'g' } } }, undefined],
    ['none of them', sonnet, 'none', undefined, undefined],
    [
      'any on a model without auto',
      deepseek,
      'required',
      { tools, toolChoice: { any: {} } },
      undefined,
    ],
    ['auto on a model without auto', deepseek, 'auto', { tools }, undefined],
    ['auto on Llama', llama, 'auto', { tools, toolChoice: { auto: {} } }, undefined],
    ['any on Llama', llama, 'required', { tools }, 'tool_choice'],
    [
      'any on Mistral Large',
      mistralLarge,
      'required',
      { tools, toolChoice: { any: {} } },
      undefined,
    ],
    ['a named one on Mistral Large', mistralLarge, named, { tools }, 'tool_choice'],
    [
      'any where none may be forced',
      opus55,
      'required',
      { tools, toolChoice: { auto: {} } },
      'tool_choice',
    ],
    [
      'a named one where none may be forced',
      opus55,
      named,
      { tools: [spec('g')], toolChoice: { auto: {} } },
      'tool_choice',
    ],
    [
      'some of them',
      sonnet,
      { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [named] } },
      { tools: [spec('g')], toolChoice: { any: {} } },
      undefined,
    ],
    ['a custom one', sonnet, { type: 'custom', custom: { name: 'x' } }, { tools }, 'tool_choice'],
  ])('%s', async (_, model, tool_choice, config, param) => {
    expect((await sent(model, { ...f, tool_choice })).toolConfig).toEqual(config)
    expect(await refused(model, { ...f, tool_choice })).toBe(param)
  })

  test('are offered freely while Claude thinks by budget', async () => {
    const body = await sent(sonnet, { ...f, tool_choice: 'required', reasoning_effort: 'low' })
    expect(body.toolConfig).toEqual({ tools, toolChoice: { auto: {} } })
  })

  test('can be forced on Sonnet 5 with thinking off, and not with thinking on', async () => {
    const forced = { ...f, tool_choice: 'required' }
    expect(await sent(sonnet5, forced)).toMatchObject({
      toolConfig: { toolChoice: { any: {} } },
      additionalModelRequestFields: { thinking: { type: 'disabled' } },
    })
    expect(await sent(sonnet5, { ...forced, reasoning_effort: 'low' })).toMatchObject({
      toolConfig: { toolChoice: { auto: {} } },
      additionalModelRequestFields: { thinking: { type: 'adaptive' } },
    })
    expect((await sent(sonnet5, f)).additionalModelRequestFields).toBeUndefined()
  })

  test('are called one at a time on Claude, by its own choice', async () => {
    const serial = { ...f, parallel_tool_calls: false, tool_choice: named }
    const body = await sent(sonnet, serial)
    expect(body.toolConfig).toEqual({ tools })
    expect(body.additionalModelRequestFields).toEqual({
      tool_choice: { type: 'tool', name: 'g', disable_parallel_tool_use: true },
    })
    expect((await sent(nova, serial)).toolConfig).toEqual({
      tools,
      toolChoice: { tool: { name: 'g' } },
    })
    expect(await refused(nova, serial)).toBe('parallel_tool_calls')
    expect(await refused(nova, { parallel_tool_calls: false })).toBeUndefined()
  })

  test('keep their descriptions and their schemas', async () => {
    const parameters = {
      properties: { a: { $ref: '#/$defs/A' } },
      $defs: { A: { type: 'string' } },
    }
    const body = await sent(sonnet, {
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
    ['a model that cannot', nova, closed, false],
  ])('are strict with %s: %s', async (_, model, parameters, strict) => {
    const fields = { tools: [tool('f', { strict: true, parameters })] }
    const [one] = ((await sent(model, fields)) as { toolConfig: { tools: { toolSpec: object }[] } })
      .toolConfig.tools
    if (strict) expect(one?.toolSpec).toMatchObject({ strict: true })
    else expect(one?.toolSpec).not.toHaveProperty('strict')
    expect(await refused(model, fields)).toBe(strict ? undefined : 'tools.0.function.strict')
  })

  test('that are no functions are left out', async () => {
    const fields = { tools: [{ type: 'custom', custom: { name: 'x' } }] }
    expect((await sent(sonnet, fields)).toolConfig).toBeUndefined()
    expect(await refused(sonnet, fields)).toBe('tools.0')
  })

  test('may be marked for the cache on Claude', async () => {
    const marked = { tools: [{ ...tool('f'), cache_control: { type: 'ephemeral' } }, tool('g')] }
    const point = { cachePoint: { type: 'default' } }
    expect((await sent(sonnet, marked)).toolConfig).toEqual({
      tools: [spec('f'), point, spec('g')],
    })
    expect((await sent(nova, marked)).toolConfig).toEqual({ tools })
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

  test('of the past are made up from their names', async () => {
    expect((await sent(sonnet, past)).toolConfig).toEqual({ tools })
    const none = { ...past, tools: [tool('h')], tool_choice: 'none' }
    expect((await sent(sonnet, none)).toolConfig).toEqual({ tools: [spec('h')] })
    expect(await refused(sonnet, none)).toBe('tool_choice')
  })

  test.each(['get weather', 'a.b', '', 'x'.repeat(65)])(
    'under a name that Converse refuses are refused: %j',
    async (name) => {
      const { chat, upstream } = await bedrockGateway()
      expect(await errorOf(await chat(asking({ tools: [tool(name)] })))).toMatchObject({
        code: 'LM-1001',
        param: 'tools.0.function.name',
      })
      expect(upstream.requests).toEqual([])
    },
  )
})

describe('an answer in JSON', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'integer', minimum: 1 }, b: { type: 'object' } },
  }
  const format = {
    response_format: { type: 'json_schema', json_schema: { name: 'n', description: 'd', schema } },
  }

  test('is held to the part of the schema that can be held', async () => {
    const body = (await sent(sonnet, format)) as {
      outputConfig: { textFormat: { structure: { jsonSchema: { schema: string } } } }
    }
    expect(body.outputConfig.textFormat).toEqual({
      type: 'json_schema',
      structure: { jsonSchema: { name: 'n', description: 'd', schema: expect.any(String) } },
    })
    expect(JSON.parse(body.outputConfig.textFormat.structure.jsonSchema.schema)).toEqual({
      type: 'object',
      properties: {
        a: { type: 'integer', description: 'minimum: 1' },
        b: { type: 'object', additionalProperties: false },
      },
      additionalProperties: false,
    })
  })

  test.each([
    ['a Claude model that refuses it', opus48, format],
    ['a model that cannot', llama, format],
    ['no schema at all', sonnet, { response_format: { type: 'json_object' } }],
  ])('is not asked for with %s', async (_, model, fields) => {
    expect((await sent(model, fields)).outputConfig).toBeUndefined()
    expect(await refused(model, fields)).toBe('response_format')
  })

  test('is asked for on open models', async () => {
    for (const model of [qwen, gptOss, 'zai.glm-4.7', 'mistral.ministral-3-8b-instruct']) {
      expect((await sent(model, format)).outputConfig, model).toBeDefined()
    }
  })
})

test.each([
  ['default', { type: 'default' }, undefined],
  ['flex', { type: 'flex' }, undefined],
  ['priority', { type: 'priority' }, undefined],
  ['auto', undefined, undefined],
  ['scale', undefined, 'service_tier'],
])('service tier %s', async (service_tier, tier, param) => {
  expect((await sent(sonnet, { service_tier })).serviceTier).toEqual(tier)
  expect(await refused(sonnet, { service_tier })).toBe(param)
})

describe('fields without a counterpart', () => {
  test.each(
    Object.entries({
      n: 2,
      seed: 7,
      logit_bias: { 1: 1 },
      logprobs: true,
      top_logprobs: 2,
      frequency_penalty: 0.1,
      presence_penalty: -0.1,
      modalities: ['text', 'audio'],
      audio: { voice: 'x', format: 'mp3' },
      prediction: { type: 'content', content: 'x' },
      store: true,
      verbosity: 'low',
      web_search_options: {},
      prompt_cache_key: 'k',
      user: 'u',
      safety_identifier: 's',
      metadata: { a: 'b' },
    }),
  )('%s is dropped, and refused where strict', async (field, value) => {
    const bare = await sent(sonnet, {})
    expect(await sent(sonnet, { [field]: value })).toEqual(bare)
    expect(await refused(sonnet, { [field]: value })).toBe(field)
  })

  test('unknown ones never are', async () => {
    expect(await sent(sonnet, { guess: 1, stream_options: {} })).toEqual(await sent(sonnet, {}))
    expect(await refused(sonnet, { guess: 1 })).toBeUndefined()
  })
})

describe('an ARN that does not tell its model', () => {
  const fields = { reasoning_effort: 'low', top_k: 3 }

  test('takes the client-facing id for a hint', async () => {
    const hinted = await sent(profile, fields, { id: 'claude-opus-4-8' })
    expect(hinted.additionalModelRequestFields).toMatchObject({ thinking: { type: 'adaptive' } })
    const other = await sent(profile, fields, { id: 'nova-pro' })
    expect(other.additionalModelRequestFields).toEqual({ inferenceConfig: { topK: 3 } })
  })

  test('without a hint is sent what the client asks for, as far as all models have it', async () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false }
    const body = await sent(profile, {
      ...fields,
      tools: [tool('f')],
      tool_choice: 'required',
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
    })
    expect(body.toolConfig).toMatchObject({ toolChoice: { any: {} } })
    expect(body.outputConfig).toBeDefined()
    expect(body.additionalModelRequestFields).toBeUndefined()
  })

  test('is not asked when the ARN itself tells', async () => {
    const arn = 'arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-pro-v1:0'
    const body = await sent(arn, { top_k: 3 }, { id: 'claude-sonnet-4-5' })
    expect(body.additionalModelRequestFields).toEqual({ inferenceConfig: { topK: 3 } })
  })
})

test('the client’s request is not modified, and every attempt sends the same', async () => {
  const gateway = await bedrockGateway()
  gateway.upstream.always(json({ message: 'busy' }, { status: 503 }))
  const answer = gateway.chat(asking({ tools: [tool('f', { parameters: { a: 1 } })], stop: [''] }))
  await gateway.clock.advance(60_000)
  expect((await answer).status).toBe(502)
  const bodies = gateway.upstream.requests.map((_, index) => gateway.upstream.text(index))
  expect(bodies).toHaveLength(3)
  expect(new Set(bodies).size).toBe(1)
})
