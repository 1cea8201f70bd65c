import { describe, expect, test } from 'vitest'
import { errorOf } from '../../support/gateway.ts'
import { json } from '../../support/scripted-upstream.ts'
import { answered, asking, bedrockGateway, type Setup, sonnet } from './support.ts'

const opus48 = 'us.anthropic.claude-opus-4-8-v1:0'
const nova = 'us.amazon.nova-pro-v1:0'
const llama = 'us.meta.llama3-3-70b-instruct-v1:0'
const gptOss = 'openai.gpt-oss-120b-1:0'
const gpt = 'openai.gpt-6-v1:0'
const qwen = 'qwen.qwen3-32b-v1:0'

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
const tool = (name: string, more: object = {}) => ({
  type: 'function',
  function: { name, ...more },
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
