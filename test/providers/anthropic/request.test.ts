import { describe, expect, test } from 'vitest'
import { json } from '../../support/scripted-upstream.ts'
import { anthropicGateway, asking, message, refused, sent, strict } from './support.ts'

const older = 'claude-sonnet-4-5'
const newer = 'claude-opus-4-8'

describe('limits', () => {
  test.each([
    ['claude-sonnet-4-5-20250929', 16384],
    ['anthropic/claude-opus-4.8', 16384],
    ['claude-3-7-sonnet-latest', 16384],
    ['claude-3-5-haiku-20241022', 4096],
    ['claude-2.1', 4096],
    ['kimi-k3', 4096],
  ])(
    '%s gets max_tokens %i where neither the client nor the model sets a limit',
    async (upstreamId, limit) => {
      expect(await sent({}, { upstreamId })).toMatchObject({ model: upstreamId, max_tokens: limit })
    },
  )

  test('max_completion_tokens wins over max_tokens', async () => {
    const body = await sent({ max_tokens: 10, max_completion_tokens: 20 })
    expect(body['max_tokens']).toBe(20)
  })
})

describe('sampling', () => {
  test('sampling fields in range are sent unchanged', async () => {
    expect(await sent({ temperature: 0, top_k: 40 })).toMatchObject({ temperature: 0, top_k: 40 })
    expect(await sent({ top_p: 0.9 })).toMatchObject({ top_p: 0.9 })
  })

  test('a newer model gets no sampling fields', async () => {
    const body = await sent({ temperature: 0.2, top_p: 0.9, top_k: 40 }, { upstreamId: newer })
    expect(body).not.toHaveProperty('temperature')
    expect(body).not.toHaveProperty('top_p')
    expect(body).not.toHaveProperty('top_k')
  })

  test.each([
    [older, { temperature: 1.5 }, 'temperature'],
    [older, { temperature: 0.5, top_p: 0.9 }, 'top_p'],
    [older, { temperature: 0.5, reasoning_effort: 'low' }, 'temperature'],
    [newer, { temperature: 0.5 }, 'temperature'],
    [newer, { top_p: 0.9 }, 'top_p'],
    [newer, { top_k: 1 }, 'top_k'],
  ])('a strict provider of %s refuses %j', async (upstreamId, fields, param) => {
    const error = await refused(fields, { ...strict, upstreamId })
    expect(error).toMatchObject({ code: 'LM-1001', param })
  })

  test.each([
    [older, { temperature: 1, top_p: 1 }],
    [newer, { temperature: 1, top_p: 0.99 }],
  ])('a strict provider of %s accepts the defaults %j', async (upstreamId, fields) => {
    expect(await sent(fields, { ...strict, upstreamId })).toMatchObject({ model: upstreamId })
  })
})

describe('fields without a counterpart', () => {
  test.each([
    ['seed', 1],
    ['n', 2],
    ['logit_bias', { 1: 1 }],
    ['logprobs', true],
    ['top_logprobs', 2],
    ['frequency_penalty', 0.1],
    ['presence_penalty', -0.1],
    ['modalities', ['text', 'audio']],
    ['audio', { voice: 'alloy' }],
    ['prediction', { type: 'content', content: 'a' }],
    ['store', true],
    ['verbosity', 'low'],
    ['prompt_cache_key', 'k'],
    ['prompt_cache_retention', '24h'],
    ['service_tier', 'flex'],
    ['service_tier', 'toString'],
    ['metadata', { team: 'a' }],
    ['response_format', { type: 'json_object' }],
    ['stop', ['\n', 'END']],
  ])('%s %j is left out, and refused by a strict provider', async (field, value) => {
    const body = await sent({ [field]: value })
    expect(body[field]).toBeUndefined()
    expect(await refused({ [field]: value }, strict)).toMatchObject({
      code: 'LM-1001',
      param: field,
    })
  })

  test('an unknown field is not sent, and not refused by a strict provider', async () => {
    const body = await sent({ min_p: 0.1, guided_json: {} }, strict)
    expect(Object.keys(body)).toEqual(['model', 'max_tokens', 'messages'])
  })

  test('the debug log names the fields that were left out', async () => {
    const { chat, upstream, log } = await anthropicGateway()
    upstream.next(json(message([])))
    await chat(asking({ seed: 1, logit_bias: { 1: 1 } }))
    expect(log).toContainEqual({
      level: 'debug',
      message: 'fields dropped',
      fields: expect.objectContaining({ fields: ['seed', 'logit_bias'] }),
    })
  })
})

describe('a field of the wrong type', () => {
  test.each([
    [{ stop: 5 }, 'stop'],
    [{ stop: ['a', 5] }, 'stop.1'],
    [{ temperature: 'hot' }, 'temperature'],
    [{ tools: [{ type: 'function', function: { name: 5 } }] }, 'tools.0.function.name'],
    [
      { tools: [{ type: 'function', function: { name: 'f', parameters: [] } }] },
      'tools.0.function.parameters',
    ],
    [{ tools: [{ type: 'function' }] }, 'tools.0.function'],
    [{ tools: [{ name: 'f', input_schema: {} }] }, 'tools.0.function'],
    [{ tools: [{}] }, 'tools.0.function'],
    [{ tool_choice: 5 }, 'tool_choice'],
    [{ response_format: 'xml' }, 'response_format'],
    [{ reasoning_effort: 5 }, 'reasoning_effort'],
    [{ thinking: 'yes' }, 'thinking'],
    [{ metadata: 'team a' }, 'metadata'],
    [{ user: 5 }, 'user'],
  ])('%j is refused with LM-1001', async (fields, param) => {
    expect(await refused(fields)).toMatchObject({ code: 'LM-1001', param })
  })
})

describe('the user and the service tier', () => {
  test.each([
    [{ user: 'u1', safety_identifier: 's1', metadata: { user_id: 'm1' } }, 'u1'],
    [{ safety_identifier: 's1', metadata: { user_id: 'm1' } }, 's1'],
    [{ metadata: { user_id: 'm1' } }, 'm1'],
    [{ user: 'ann@example.com', safety_identifier: 's1' }, 's1'],
    [{ user: '+49 (30) 901820' }, undefined],
    [{ user: 'x'.repeat(257) }, undefined],
    [{ user: '' }, undefined],
  ])('the identifiers %j become user_id %s', async (fields, id) => {
    const body = await sent(fields, strict)
    expect(body['metadata']).toEqual(id === undefined ? undefined : { user_id: id })
  })

  test('the service tiers auto and default are translated', async () => {
    expect(await sent({ service_tier: 'auto' }, strict)).toMatchObject({ service_tier: 'auto' })
    expect(await sent({ service_tier: 'default' }, strict)).toMatchObject({
      service_tier: 'standard_only',
    })
  })
})

describe('JSON schemas', () => {
  const format = (schema: unknown) => ({
    response_format: { type: 'json_schema', json_schema: { name: 'r', schema } },
  })
  const schema = { type: 'object', properties: { a: { type: 'string' } } }

  test.each(['claude-sonnet-4-5', 'claude-opus-4-1', newer, 'claude-next-9'])(
    '%s enforces a JSON schema',
    async (upstreamId) => {
      const body = await sent(format(schema), { ...strict, upstreamId })
      expect(body['output_config']).toEqual({
        format: { type: 'json_schema', schema: { ...schema, additionalProperties: false } },
      })
    },
  )

  test.each(['claude-sonnet-4-0', 'claude-3-opus', 'glm-5'])(
    '%s does not enforce a JSON schema',
    async (upstreamId) => {
      expect(await sent(format(schema), { upstreamId })).not.toHaveProperty('output_config')
      expect(await refused(format(schema), { ...strict, upstreamId })).toMatchObject({
        param: 'response_format',
      })
    },
  )

  test('a json_schema format without a schema is left out', async () => {
    expect(await refused(format(null), strict)).toMatchObject({ param: 'response_format' })
  })
})

describe("Claude's own fields", () => {
  const effort = (level: string) => ({ output_config: { effort: level } })

  test('an effort alone does not turn thinking on', async () => {
    const body = await sent(effort('low'), { ...strict, upstreamId: newer })
    expect(body).toMatchObject(effort('low'))
    expect(body).not.toHaveProperty('thinking')
  })

  test('output_config wins over reasoning_effort, and keeps the format of the answer', async () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false }
    const body = await sent(
      {
        ...effort('max'),
        reasoning_effort: 'low',
        response_format: { type: 'json_schema', json_schema: { name: 'r', schema } },
      },
      { ...strict, upstreamId: newer },
    )
    expect(body).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'max', format: { type: 'json_schema', schema } },
    })
  })

  test('the list of beta features becomes a header, each of them once', async () => {
    const { chat, upstream } = await anthropicGateway(strict)
    upstream.always(json(message([])))
    const content = [{ type: 'file', file: { file_id: 'file_1' } }]
    const features = ['mcp-client-2025-11-20', 'files-api-2025-04-14', 'mcp-client-2025-11-20']
    await chat(asking({ anthropic_beta: features, messages: [{ role: 'user', content }] }))
    expect(upstream.requests[0]?.headers['anthropic-beta']).toBe(
      'mcp-client-2025-11-20,files-api-2025-04-14',
    )
    expect(upstream.body(0)).not.toHaveProperty('anthropic_beta')
  })

  test('an OAuth token keeps the features of the client', async () => {
    const { chat, upstream } = await anthropicGateway({ secret: 'sk-ant-oat01-canary' })
    upstream.always(json(message([])))
    await chat(asking({ anthropic_beta: ['mcp-client-2025-11-20'] }))
    expect(upstream.requests[0]?.headers['anthropic-beta']).toBe(
      'mcp-client-2025-11-20,oauth-2025-04-20',
    )
  })

  test.each<[object, string]>([
    [{ anthropic_beta: 'mcp-client-2025-11-20' }, 'anthropic_beta'],
    [{ anthropic_beta: ['a', 'b\r\nx-api-key: c'] }, 'anthropic_beta.1'],
    [{ output_config: [] }, 'output_config'],
    [{ context_management: 'x' }, 'context_management'],
    [{ cache_control: true }, 'cache_control'],
    [{ container: 7 }, 'container'],
    [{ mcp_servers: {} }, 'mcp_servers'],
    [{ mcp_servers: ['https://mcp.example.com'] }, 'mcp_servers.0'],
  ])('%j is refused with LM-1001', async (fields, param) => {
    expect(await refused(fields)).toMatchObject({ code: 'LM-1001', param })
  })
})
