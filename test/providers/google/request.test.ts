import { describe, expect, test } from 'vitest'
import { asking, refused, sent, sentConfig, weather } from './support.ts'

describe('sampling and limits', () => {
  test('every sampling field has its counterpart in generationConfig', async () => {
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
    expect(await sentConfig(fields)).toEqual({
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
    ['no fields', {}],
    ['null', { temperature: null, stop: null, seed: null, modalities: null }],
    [
      'neutral values',
      { n: 1, presence_penalty: 0, frequency_penalty: 0, stop: '', modalities: ['text'] },
    ],
  ])('a request with %s has no generationConfig', async (_, fields) => {
    expect(await sentConfig(fields)).toBeUndefined()
    expect(await sentConfig(fields, 'gemini-2.0-flash')).toBeUndefined()
  })

  test.each([
    [7, 7],
    [-1, -1],
    [2 ** 31, -(2 ** 31)],
    [2 ** 32 + 5, 5],
  ])('the seed %d is folded to %d, which fits 32 bits', async (seed, expected) => {
    expect(await sentConfig({ seed })).toEqual({ seed: expected })
  })

  test.each([
    ['seed', 1.5],
    ['temperature', 'hot'],
    ['stop', 5],
    ['modalities', 'text'],
  ])('a field %s of the wrong type is refused', async (field, value) => {
    expect(await refused(asking({ [field]: value }))).toMatchObject({
      code: 'LM-1001',
      param: field,
    })
  })

  test.each([
    ['gemini-2.0-flash', { presencePenalty: 0.5, frequencyPenalty: -1 }],
    ['gemini-2.5-flash', undefined],
    ['gemini-3-pro-preview', undefined],
  ])('penalties are sent to %s only if it accepts them', async (upstreamId, expected) => {
    const fields = { presence_penalty: 0.5, frequency_penalty: -1 }
    expect(await sentConfig(fields, upstreamId)).toEqual(expected)
  })

  test.each([
    ['gemini-3.5-flash', { temperature: 0.5, topP: 0.5, topK: 5 }],
    ['gemini-3.5-flash-lite', undefined],
    ['gemini-3.6-flash', undefined],
    ['gemini-3.10-flash', undefined],
    ['gemini-flash-latest', undefined],
    ['models/Gemini-Flash-Latest', undefined],
    ['gemini-pro', { temperature: 0.5, topP: 0.5, topK: 5 }],
  ])('sampling fields are sent to %s only if it uses them', async (upstreamId, expected) => {
    expect(await sentConfig({ temperature: 0.5, top_p: 0.5, top_k: 5 }, upstreamId)).toEqual(
      expected,
    )
  })

  test.each([
    ['flex', 'flex'],
    ['priority', 'priority'],
    ['default', 'standard'],
    ['auto', undefined],
    ['scale', undefined],
  ])('the service tier %s becomes %s', async (service_tier, expected) => {
    expect((await sent(asking({ service_tier }))).serviceTier).toBe(expected)
  })
})
describe('response format', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  const asJson = { responseMimeType: 'application/json' }
  const openApi = { type: 'OBJECT', properties: { a: { type: 'STRING' } } }

  test.each([
    ['text', { type: 'text' }, undefined],
    ['any JSON', { type: 'json_object' }, asJson],
    ['a JSON schema without a schema', { type: 'json_schema', json_schema: { name: 'x' } }, asJson],
    [
      'a JSON schema that allows any object',
      { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } },
      asJson,
    ],
    [
      'a JSON schema',
      { type: 'json_schema', json_schema: { name: 'x', strict: true, schema } },
      { ...asJson, responseSchema: openApi },
    ],
  ])('a response format of %s becomes its Gemini fields', async (_, response_format, expected) => {
    expect(await sentConfig({ response_format })).toEqual(expected)
    expect(await sentConfig({ response_format }, 'gemini-2.0-flash')).toEqual(expected)
  })

  test('a format is sent when allowed_tools leaves no function to declare', async () => {
    const tool_choice = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } }
    const response_format = { type: 'json_object' }
    expect(await sentConfig({ tools: [weather], tool_choice, response_format })).toEqual(asJson)
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
    ['audio', { voice: 'alloy' }],
    ['presence_penalty', 0.5],
    ['frequency_penalty', 0.5],
    ['top_logprobs', 3],
    ['service_tier', 'scale'],
  ])('%s is refused under strict, because Gemini has no counterpart', async (field, value) => {
    expect(await refusedParam({ [field]: value })).toBe(field)
    expect(JSON.stringify(await sent(asking({ [field]: value })))).not.toContain(field)
  })

  test.each([
    ['n', 2],
    ['temperature', 0.5],
    ['top_p', 0.5],
    ['top_k', 5],
  ])('%s is refused under strict for newer models', async (field, value) => {
    expect(await refusedParam({ [field]: value }, 'gemini-3.8-flash')).toBe(field)
  })

  test('a refusal under strict states the path inside the tool', async () => {
    const deferred = { type: 'function', function: { name: 'a', defer_loading: true } }
    expect(await refusedParam({ tools: [weather, deferred] })).toBe(
      'tools.1.function.defer_loading',
    )
    expect(await refusedParam({ tools: [weather, { type: 'web_search' }] })).toBe('tools.1')
  })

  test('JSON output beside tools is refused under strict for models before 3.0', async () => {
    const fields = { tools: [weather], response_format: { type: 'json_object' } }
    expect(await refusedParam(fields)).toBe('response_format')
    await sent(asking(fields), { strict: true, upstreamId: 'gemini-3-flash' })
  })

  test('fields that do not change the answer are neither refused nor sent', async () => {
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

describe("Google's own fields", () => {
  const strict = { strict: true }

  test.each<[object, object]>([
    [
      { safety_settings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }] },
      { safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }] },
    ],
    [{ cached_content: 'cachedContents/c1' }, { cachedContent: 'cachedContents/c1' }],
    [
      { image_config: { aspect_ratio: '16:9', imageSize: '2K' } },
      { generationConfig: { imageConfig: { aspectRatio: '16:9', imageSize: '2K' } } },
    ],
    [
      { media_resolution: 'MEDIA_RESOLUTION_LOW' },
      { generationConfig: { mediaResolution: 'MEDIA_RESOLUTION_LOW' } },
    ],
  ])('%j is sent from every place', async (fields, expected) => {
    const places = [
      fields,
      { google: fields },
      { extra_body: fields },
      { extra_body: { google: fields } },
    ]
    for (const place of places) expect(await sent(asking(place), strict)).toMatchObject(expected)
  })

  test('the top level wins over google, and google over extra_body', async () => {
    const content = (name: string) => ({ cached_content: name })
    const google = content('b')
    const extra_body = { ...content('c'), google: content('d') }
    const read = async (fields: object) => (await sent(asking(fields))).cachedContent
    expect(await read({ ...content('a'), google, extra_body })).toBe('a')
    expect(await read({ google, extra_body })).toBe('b')
    expect(await read({ extra_body })).toBe('c')
  })

  test('labels are dropped, because only Vertex AI has them', async () => {
    expect(await sent(asking({ labels: { team: 'x' } }))).not.toHaveProperty('labels')
    expect(await refused(asking({ labels: { team: 'x' } }), strict)).toMatchObject({
      code: 'LM-1001',
      param: 'labels',
    })
  })

  test.each<[object, string]>([
    [{ safety_settings: {} }, 'safety_settings'],
    [{ google: { safety_settings: ['x'] } }, 'google.safety_settings.0'],
    [{ cached_content: 7 }, 'cached_content'],
    [{ image_config: '16:9' }, 'image_config'],
    [{ media_resolution: {} }, 'media_resolution'],
  ])('%j is refused with LM-1001', async (fields, param) => {
    expect(await refused(asking(fields))).toMatchObject({ code: 'LM-1001', param })
  })
})
