import { describe, expect, test } from 'vitest'
import { keyedGateway } from '../../support/keyed-gateway.ts'
import { messagesGateway, readMessagesError } from './support.ts'

const config = `
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
models = [
  { id = "claude-a", max_output_tokens = 4096 },
  { id = "org/b" },
  { id = "vectors", capabilities = ["embed"] },
  { id = "c" },
]
`
const headers = { 'anthropic-version': '2023-06-01' }

interface Listed {
  readonly data: readonly { readonly id: string }[]
  readonly [member: string]: unknown
}

async function list(query = '') {
  const { get } = await messagesGateway(config)
  const response = await get(`/v1/models${query}`, { headers })
  // The tests compare the members.
  return (await response.json()) as Listed
}

describe('the list of models for clients of the Messages API', () => {
  test('has the models for chat in the form of that API', async () => {
    const { get, clock } = await messagesGateway(config)
    const response = await get('/v1/models?limit=1000', { headers })
    expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'))
    const created = new Date(Math.floor(clock.now() / 1000) * 1000).toISOString()
    const common = { type: 'model', created_at: created.replace('.000Z', 'Z') }
    expect(await response.json()).toEqual({
      data: [
        { ...common, id: 'claude-a', display_name: 'claude-a', max_tokens: 4096 },
        { ...common, id: 'org/b', display_name: 'org/b' },
        { ...common, id: 'c', display_name: 'c' },
      ],
      has_more: false,
      first_id: 'claude-a',
      last_id: 'c',
    })
  })

  test.each([
    ['?limit=2', ['claude-a', 'org/b'], true],
    ['?limit=2&after_id=org/b', ['c'], false],
    ['?after_id=c', [], false],
    ['?before_id=c', ['claude-a', 'org/b'], false],
    ['?limit=1&before_id=c', ['org/b'], true],
  ])('%s is one page', async (query, ids, hasMore) => {
    const { data, has_more, first_id, last_id } = await list(query)
    expect(data.map(({ id }) => id)).toEqual(ids)
    expect({ has_more, first_id, last_id }).toEqual({
      has_more: hasMore,
      first_id: ids[0] ?? null,
      last_id: ids.at(-1) ?? null,
    })
  })

  test.each([
    ['?limit=0', 'limit'],
    ['?limit=1001', 'limit'],
    ['?limit=x', 'limit'],
    ['?after_id=vectors', 'after_id'],
    ['?after_id=c&before_id=c', 'before_id'],
  ])('%s is refused', async (query, param) => {
    const { get } = await messagesGateway(config)
    const response = await get(`/v1/models${query}`, { headers })
    expect(response.status).toBe(400)
    expect(await readMessagesError(response)).toMatchObject({ code: 'LM-1001', param })
  })

  test('has one model by its id', async () => {
    const { get } = await messagesGateway(config)
    const found = await get('/v1/models/org%2Fb', { headers })
    expect(await found.json()).toMatchObject({ type: 'model', id: 'org/b' })
    for (const id of ['vectors', 'unknown']) {
      const response = await get(`/v1/models/${id}`, { headers })
      expect(response.status).toBe(404)
      expect(await readMessagesError(response)).toMatchObject({ type: 'not_found_error' })
    }
  })

  test('has only what the key may use', async () => {
    const gateway = await keyedGateway(config)
    const key = await gateway.key({ models: ['c'] })
    const response = await gateway.get('/v1/models', { headers: { ...headers, ...key.headers } })
    expect(await response.json()).toMatchObject({ data: [{ id: 'c' }] })
    const refused = await gateway.get('/v1/models', { headers })
    expect(await readMessagesError(refused)).toMatchObject({ type: 'authentication_error' })
  })

  test('other clients get the form of the OpenAI API', async () => {
    const { get } = await messagesGateway(config)
    expect(await (await get('/v1/models')).json()).toMatchObject({ object: 'list' })
  })
})
