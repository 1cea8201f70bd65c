import { describe, expect, test } from 'vitest'
import { readError } from '../../support/gateway.ts'
import { json } from '../../support/scripted-upstream.ts'
import { asking, bedrockGateway, refuseFields, sendFields, sonnet } from './support.ts'

const opus48 = 'us.anthropic.claude-opus-4-8-v1:0'
const nova = 'us.amazon.nova-pro-v1:0'
const llama = 'us.meta.llama3-3-70b-instruct-v1:0'
const gptOss = 'openai.gpt-oss-120b-1:0'
const gpt = 'openai.gpt-6-v1:0'
const qwen = 'qwen.qwen3-32b-v1:0'

describe('inferenceConfig', () => {
  const both = { temperature: 0.5, top_p: 0.9 }

  test.each([
    ['temperature alone on Claude', sonnet, both, { temperature: 0.5 }, 'top_p'],
    ['top_p alone on Claude', sonnet, { top_p: 0.9 }, { topP: 0.9 }, undefined],
    [
      'temperature and top_p on another model',
      llama,
      both,
      { temperature: 0.5, topP: 0.9 },
      undefined,
    ],
    ['a clamped temperature', llama, { temperature: 1.9 }, { temperature: 1 }, 'temperature'],
    ['zero values', llama, { temperature: 0, top_p: 0 }, { temperature: 0, topP: 0 }, undefined],
    ['no sampling on newer Claude', opus48, { temperature: 0.2 }, undefined, 'temperature'],
    ['no defaults on newer Claude', opus48, { temperature: 1, top_p: 0.99 }, undefined, undefined],
    ['no sampling on OpenAI', gpt, { top_p: 0.2 }, undefined, 'top_p'],
    ['temperature on gpt-oss', gptOss, { temperature: 0.2 }, { temperature: 0.2 }, undefined],
    ['a limit', llama, { max_completion_tokens: 7 }, { maxTokens: 7 }, undefined],
    ['stop sequences', llama, { stop: 'a' }, { stopSequences: ['a'] }, undefined],
    ['a blank stop sequence', llama, { stop: ['', ' '] }, { stopSequences: [' '] }, undefined],
    [
      'no blank stop sequence on Claude',
      sonnet,
      { stop: ['', '\n', 'x'] },
      { stopSequences: ['x'] },
      'stop',
    ],
    ['no stop sequences on OpenAI', gptOss, { stop: ['x'] }, undefined, 'stop'],
    ['nothing for empty fields', llama, { stop: [], temperature: null }, undefined, undefined],
  ])('it has %s', async (_, model, fields, config, param) => {
    expect((await sendFields(model, fields)).inferenceConfig).toEqual(config)
    expect(await refuseFields(model, fields)).toBe(param)
  })

  test.each([
    ['Claude', sonnet, { top_k: 5 }],
    ['Nova', nova, { inferenceConfig: { topK: 5 } }],
    ['newer Claude', opus48, undefined],
    ['others', llama, undefined],
  ])('top_k is sent where %s takes it', async (_, model, fields) => {
    expect((await sendFields(model, { top_k: 5 })).additionalModelRequestFields).toEqual(fields)
    expect(await refuseFields(model, { top_k: 5 })).toBe(fields ? undefined : 'top_k')
  })
})
const tool = (name: string, more: object = {}) => ({
  type: 'function',
  function: { name, ...more },
})
describe('response_format', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'integer', minimum: 1 }, b: { type: 'object' } },
  }
  const format = {
    response_format: { type: 'json_schema', json_schema: { name: 'n', description: 'd', schema } },
  }

  test('the schema is converted into the enforced subset', async () => {
    const body = (await sendFields(sonnet, format)) as {
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
    ['a Claude model that rejects textFormat', opus48, format],
    ['a model without structured output', llama, format],
    ['json_object', sonnet, { response_format: { type: 'json_object' } }],
  ])('it is left out for %s', async (_, model, fields) => {
    expect((await sendFields(model, fields)).outputConfig).toBeUndefined()
    expect(await refuseFields(model, fields)).toBe('response_format')
  })

  test('a JSON schema is sent to open models', async () => {
    for (const model of [qwen, gptOss, 'zai.glm-4.7', 'mistral.ministral-3-8b-instruct']) {
      expect((await sendFields(model, format)).outputConfig, model).toBeDefined()
    }
  })
})

test.each([
  ['default', { type: 'default' }, undefined],
  ['flex', { type: 'flex' }, undefined],
  ['priority', { type: 'priority' }, undefined],
  ['auto', undefined, undefined],
  ['scale', undefined, 'service_tier'],
])('service tier %s becomes %j', async (service_tier, tier, param) => {
  expect((await sendFields(sonnet, { service_tier })).serviceTier).toEqual(tier)
  expect(await refuseFields(sonnet, { service_tier })).toBe(param)
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
  )('%s is left out, and refused by a strict provider', async (field, value) => {
    const bare = await sendFields(sonnet, {})
    expect(await sendFields(sonnet, { [field]: value })).toEqual(bare)
    expect(await refuseFields(sonnet, { [field]: value })).toBe(field)
  })

  test('an unknown field is not sent, and not refused by a strict provider', async () => {
    expect(await sendFields(sonnet, { guess: 1, stream_options: {} })).toEqual(
      await sendFields(sonnet, {}),
    )
    expect(await refuseFields(sonnet, { guess: 1 })).toBeUndefined()
  })
})

describe("Converse's own fields", () => {
  test('they are sent in its names; labels keep theirs', async () => {
    const fields = {
      guardrail_config: { guardrail_identifier: 'g-1', guardrailVersion: '2', trace: 'enabled' },
      performance_config: { latency: 'optimized' },
      request_metadata: { cost_center: '42' },
    }
    expect(await refuseFields(nova, fields)).toBeUndefined()
    expect(await sendFields(nova, { extra_body: fields })).toMatchObject({
      guardrailConfig: { guardrailIdentifier: 'g-1', guardrailVersion: '2', trace: 'enabled' },
      performanceConfig: { latency: 'optimized' },
      requestMetadata: { cost_center: '42' },
    })
  })

  test('additional fields join those of the gateway, and win', async () => {
    const additional_model_request_fields = { top_k: 9, mood: { a_b: 1 } }
    const fields = { top_k: 5, reasoning_effort: 'low', additional_model_request_fields }
    expect((await sendFields(qwen, fields)).additionalModelRequestFields).toEqual({
      reasoning_config: 'low',
      ...additional_model_request_fields,
    })
    const claude = { ...fields, reasoning_effort: undefined }
    expect((await sendFields(sonnet, claude)).additionalModelRequestFields).toEqual(
      additional_model_request_fields,
    )
  })

  test.each<[object, string]>([
    [{ max_tokens: 9 }, 'max_tokens'],
    [{ maxTokenCount: 9 }, 'maxTokenCount'],
    [{ max_gen_len: 9 }, 'max_gen_len'],
    [{ inferenceConfig: { maxTokens: 9 } }, 'inferenceConfig.maxTokens'],
  ])('additional fields hold no bound on the output: %j', async (fields, path) => {
    const { chat, upstream } = await bedrockGateway()
    const response = await chat(asking({ additional_model_request_fields: fields }))
    expect(await readError(response)).toMatchObject({
      code: 'LM-1001',
      param: `additional_model_request_fields.${path}`,
    })
    expect(upstream.requests).toEqual([])
  })

  const own = {
    output_config: { effort: 'high' },
    context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
    anthropic_beta: ['context-management-2025-06-27'],
  }

  test("Claude's own fields are additional fields", async () => {
    const fields = { ...own, reasoning_effort: 'low' }
    expect(await refuseFields(opus48, fields)).toBeUndefined()
    expect((await sendFields(opus48, fields)).additionalModelRequestFields).toEqual({
      thinking: { type: 'adaptive', display: 'summarized' },
      ...own,
    })
    expect(await sendFields(nova, own)).toEqual(await sendFields(nova, {}))
  })

  test.each(['guardrail_config', 'performance_config', 'request_metadata', 'output_config'])(
    '%s must be an object',
    async (field) => {
      const { chat } = await bedrockGateway()
      const response = await chat(asking({ [field]: 'x' }))
      expect(await readError(response)).toMatchObject({ code: 'LM-1001', param: field })
    },
  )
})

test('the client’s request is not modified, so every attempt sends the same body', async () => {
  const gateway = await bedrockGateway()
  gateway.upstream.always(json({ message: 'busy' }, { status: 503 }))
  const answer = gateway.chat(asking({ tools: [tool('f', { parameters: { a: 1 } })], stop: [''] }))
  await gateway.clock.advance(60_000)
  expect((await answer).status).toBe(502)
  const bodies = gateway.upstream.requests.map((_, index) => gateway.upstream.text(index))
  expect(bodies).toHaveLength(3)
  expect(new Set(bodies).size).toBe(1)
})
