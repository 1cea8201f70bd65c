import { describe, expect, test } from 'vitest'
import { readError } from '../../support/gateway.ts'
import { json } from '../../support/scripted-upstream.ts'
import { answered, asking, cohereGateway, refused, sent, tool } from './support.ts'

describe('response_format', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
  const json_schema = { name: 'o', description: 'd', strict: true, schema }

  test.each([
    [{ type: 'text' }, undefined],
    [{ type: 'json_object' }, { type: 'json_object' }],
    [
      { type: 'json_schema', json_schema },
      { type: 'json_object', json_schema: schema },
    ],
    [{ type: 'json_schema', json_schema: { name: 'o' } }, { type: 'json_object' }],
  ])('a response_format of %j becomes its counterpart', async (response_format, expected) => {
    expect((await sent({ response_format }))['response_format']).toEqual(expected)
  })

  test('a JSON response_format beside tools is refused under strict, a text format is not', async () => {
    const tools = [tool('a')]
    const format = { type: 'json_schema', json_schema }
    expect(await refused({ tools, response_format: format })).toBe('response_format')
    expect(await sent({ tools, response_format: { type: 'text' } })).not.toHaveProperty(
      'response_format',
    )
  })
})
describe('sampling', () => {
  test.each([
    [{ top_p: 0.5 }, { p: 0.5 }],
    [{ top_p: 0.995 }, { p: 0.99 }],
    [{ top_p: 0 }, { p: 0.01 }],
    [{ temperature: 1.7 }, { temperature: 1.7 }],
    [{ temperature: 0 }, { temperature: 0 }],
    [{ stop: ['', 'a', ''] }, { stop_sequences: ['a'] }],
    [{ max_tokens: 5 }, { max_tokens: 5 }],
    [{ seed: 0 }, { seed: 0 }],
    [{ presence_penalty: 1 }, { presence_penalty: 1 }],
    [
      { presence_penalty: 0.5, frequency_penalty: 0.5 },
      { presence_penalty: 0.5, frequency_penalty: 0.5 },
    ],
    [{ reasoning_effort: 'high' }, { thinking: { type: 'enabled' } }],
    [{ reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
  ])('the field %j becomes %j', async (field, expected) => {
    expect(await sent(field)).toEqual({
      model: 'command-a-03-2025',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: false,
      ...expected,
    })
  })

  test.each(['stop', 'seed', 'temperature', 'reasoning_effort', 'logprobs', 'tool_choice'])(
    'the field %s with a wrong type is refused',
    async (field) => {
      const { chat, upstream } = await cohereGateway()
      const response = await chat(
        asking({ [field]: 7.5, ...(field === 'temperature' && { [field]: 'hot' }) }),
      )
      expect(await readError(response)).toMatchObject({ code: 'LM-1001', param: field })
      expect(upstream.requests).toEqual([])
    },
  )
})
describe('fields without a counterpart', () => {
  test.each([
    { n: 2 },
    { top_logprobs: 3 },
    { logit_bias: { 1: 2 } },
    { parallel_tool_calls: false },
    { prediction: { type: 'content', content: 'a' } },
    { audio: { voice: 'alloy', format: 'wav' } },
    { modalities: ['text', 'audio'] },
    { store: true },
    { verbosity: 'low' },
    { service_tier: 'flex' },
    { web_search_options: {} },
    { seed: -1 },
    { frequency_penalty: -0.5 },
    { presence_penalty: 1.5 },
    { reasoning_effort: 'medium' },
  ])('the field %j is dropped, and refused under strict', async (field) => {
    expect(Object.keys(await sent(field)).toSorted()).toEqual(['messages', 'model', 'stream'])
    expect(await refused(field)).toBe(Object.keys(field)[0])
  })

  test('fields with neutral values are dropped under strict too', async () => {
    const { chat, upstream } = await cohereGateway('strict = true')
    upstream.next(json(answered({})))
    const neutral = {
      n: 1,
      parallel_tool_calls: true,
      logprobs: false,
      top_logprobs: 0,
      top_p: 1,
      frequency_penalty: 0,
      presence_penalty: 0,
      logit_bias: {},
      service_tier: 'default',
      modalities: ['text'],
      store: false,
      verbosity: 'medium',
      response_format: { type: 'text' },
      tools: null,
      seed: null,
      reasoning_effort: null,
      stream: null,
    }
    const silent = {
      user: 'u',
      safety_identifier: 's',
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
      stream_options: { include_usage: true },
    }
    expect((await chat(asking({ ...neutral, ...silent }))).status).toBe(200)
    expect(upstream.body()).toEqual({
      model: 'command-a-03-2025',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: false,
    })
  })
})

describe("Cohere's own fields", () => {
  test('they are sent unchanged', async () => {
    const fields = {
      documents: ['Foxes are red.', { id: 'd2', data: { title: 'Owls', text: 'Owls are grey.' } }],
      citation_options: { mode: 'ACCURATE' },
      safety_mode: 'STRICT',
    }
    expect(await sent({ extra_body: fields })).toMatchObject(fields)
  })

  test.each([
    [{ documents: 'x' }, 'documents'],
    [{ documents: [7] }, 'documents.0'],
    [{ citation_options: 'FAST' }, 'citation_options'],
    [{ safety_mode: true }, 'safety_mode'],
  ])('%j is refused with LM-1001', async (fields, param) => {
    const { chat, upstream } = await cohereGateway()
    expect(await readError(await chat(asking(fields)))).toMatchObject({ code: 'LM-1001', param })
    expect(upstream.requests).toEqual([])
  })
})
