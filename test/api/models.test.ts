import { describe, expect, test } from 'vitest'
import { completion } from '../support/answers.ts'
import { expectCommonHeaders, expectErrorShape } from '../support/contract.ts'
import { json } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const ids = [
  'plain',
  'org/name',
  'accounts/fireworks/models/llama-v3p1-8b',
  '@cf/meta/llama-3-8b',
  'org/name:free',
  'with space',
  '50%',
  'a%2Fb',
  'a+b&c=d?e#f',
  'dots.and-dashes_1',
  'ends/',
  'zażółć'.replaceAll(/[^\u0020-\u00ff]/g, 'é'),
  'constructor',
  'models',
]
const config = `
[[providers]]
name = "first"
kind = "openai"
api_key_env = "P_KEY"
models = [
  { id = "seer", modalities = ["text", "image"], capabilities = ["chat", "embed"] },
  ${ids.map((id) => `{ id = ${JSON.stringify(id)} },`).join('\n')}
]
[[providers]]
name = "second"
kind = "demo"
models = [{ id = "demo", upstream_id = "hidden" }]
`

const entry = (id: string, more: object = {}) => ({
  id,
  object: 'model',
  created: 1_764_000_000,
  owned_by: 'first',
  capabilities: ['chat'],
  modalities: ['text'],
  ...more,
})

test('the list holds every configured model in the order of the file, with the documented fields only', async () => {
  const { get } = await watchedGateway(config)
  const response = await get('/v1/models')
  expect(response.status).toBe(200)
  expectCommonHeaders(response)
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(await response.json()).toEqual({
    object: 'list',
    data: [
      entry('seer', { capabilities: ['chat', 'embed'], modalities: ['text', 'image'] }),
      ...ids.map((id) => entry(id)),
      entry('demo', { owned_by: 'second' }),
    ],
  })
})

test('`created` is the time of the boot, even when the clock changes later', async () => {
  const { get, clock } = await watchedGateway(config)
  await clock.advance(3_600_000)
  expect(await (await get('/v1/models/demo')).json()).toMatchObject({ created: 1_764_000_000 })
})

test.each(['', '/', '?limit=1', '/?x=%zz', '#top'])(
  'the list is also at /v1/models%s',
  async (more) => {
    const { get } = await watchedGateway(config)
    expect((await get(`/v1/models${more}`)).status).toBe(200)
  },
)

describe('one model', () => {
  test.each(ids)('%s is found by its id as official SDKs encode it', async (id) => {
    const { get } = await watchedGateway(config)
    const response = await get(`/v1/models/${encodeURIComponent(id)}`)
    expect(await response.json()).toEqual(entry(id))
  })

  test.each(ids.filter((id) => !/[%?#]/.test(id)))(
    '%s is found by its unencoded id',
    async (id) => {
      const { get } = await watchedGateway(config)
      expect(await (await get(`/v1/models/${id}`)).json()).toEqual(entry(id))
    },
  )

  test('an id with a percent sign that encodes nothing is found', async () => {
    const { get } = await watchedGateway(config)
    expect(await (await get('/v1/models/50%')).json()).toEqual(entry('50%'))
  })

  test.each([
    'unknown-model',
    'PLAIN',
    'plain%00',
    'plain%20',
    'org',
    'org%2fname%2f',
    'org//name',
    'hidden',
    'toString',
    'a%252Fc',
  ])('an unconfigured id, %s, is LM-2001 and is not repeated', async (id) => {
    const { get } = await watchedGateway(config)
    const response = await get(`/v1/models/${id}`)
    expect(response.status).toBe(404)
    const error = await expectErrorShape(response)
    expect(error).toMatchObject({ code: 'LM-2001', type: 'invalid_request', param: 'model' })
    expect(error.message).not.toContain(decodeURIComponent(id))
  })

  test.each([
    ['gpt4o-mini', 'gpt-4o-mini'],
    ['GPT-4O-MINI', 'gpt-4o-mini'],
    ['gpt-4o-mini ', 'gpt-4o-mini'],
    ['openai/gpt-4o-mini', 'gpt-4o-mini'],
    ['openai:gpt-4o-mini', 'gpt-4o-mini'],
    ['openrouter/openai/gpt4o-mini', 'gpt-4o-mini'],
    ['claude', undefined],
    ['openai/', undefined],
    ['x'.repeat(100_000), undefined],
  ])('the mistyped id %s is answered with the nearest id', async (id, nearest) => {
    const { chat } = await watchedGateway(
      '[[providers]]\nname = "p"\nkind = "demo"\nmodels = [{ id = "gpt-4o-mini" }, { id = "o3" }]',
    )
    const error = await expectErrorShape(
      await chat({ model: id, messages: [{ role: 'user', content: 'Hi' }] }),
    )
    const hint = nearest === undefined ? '' : `did you mean ${nearest}? `
    expect(error).toMatchObject({
      code: 'LM-2001',
      message: `the model is not configured; ${hint}GET /v1/models lists the models`,
    })
  })

  test.each(ids)('%s is also served under that id', async (id) => {
    const { chat, upstream } = await watchedGateway(config)
    upstream.next(json(completion()))
    const response = await chat({ model: id, messages: [{ role: 'user' }] })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-gateway-model-used')).toBe(id)
    expect(upstream.body()).toMatchObject({ model: id })
  })
})
