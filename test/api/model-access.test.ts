import { describe, expect, test } from 'vitest'
import {
  type ClientKey,
  errorIn,
  type KeyedGateway,
  keyedGateway,
  prompt,
  used,
} from '../support/keyed-gateway.ts'
import { json } from '../support/scripted-upstream.ts'

/** Chat models `small`, `large` and `lab/x`, and `vector`, which only embeds. */
const config = `
[resilience]
retry_max_attempts = 1
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
models = [
  { id = "small", fallbacks = ["large"], cost_per_1m_input = 1 },
  { id = "large" },
  { id = "lab/x" },
  { id = "vector", capabilities = ["embed"] },
]
`

const chat = (model: string) => prompt(8, { model })

const forbidden = {
  code: 'LM-4005',
  type: 'invalid_request',
  message: 'the key may not use this model; GET /v1/models lists the models that it may use',
  param: 'model',
  request_id: expect.any(String),
  scope: 'key',
}

async function listed({ get }: KeyedGateway, { headers }: ClientKey): Promise<string[]> {
  const { data } = (await (await get('/v1/models', { headers })).json()) as {
    data: { id: string }[]
  }
  return data.map(({ id }) => id)
}

describe('a key with a list of models', () => {
  test('it may use the listed ids and the ids that a trailing * matches', async () => {
    const gateway = await keyedGateway(config)
    const held = await gateway.key({ models: ['small', 'lab/*'] })
    gateway.upstream.always(used(8))
    expect((await gateway.ask(held, chat('small'))).status).toBe(200)
    expect((await gateway.ask(held, chat('lab/x'))).status).toBe(200)
    expect(await listed(gateway, held)).toEqual(['small', 'lab/x'])
  })

  test('another model is refused with LM-4005 before any upstream call', async () => {
    const gateway = await keyedGateway(config)
    const held = await gateway.key({ models: ['small'] })
    const refused = await gateway.ask(held, chat('large'))
    expect(refused.status).toBe(403)
    expect(errorIn(refused)).toEqual(forbidden)
    expect(gateway.upstream.requests).toEqual([])
  })

  test.each(['key', 'group'])(
    'the log and the last requests say that the list of the %s refused',
    async (scope) => {
      const gateway = await keyedGateway(config)
      const lists = { key: { models: ['small'] }, group: {} }[scope]
      const group = await gateway.admin('POST', '/admin/groups', {
        name: 'g',
        models: ['small', 'vector'],
      })
      const held = await gateway.key({ group_id: group.body['id'], ...lists })
      gateway.log.length = 0
      const refused = errorIn(await gateway.ask(held, chat('large')))
      const owner = scope === 'key' ? 'the key' : 'the group of the key'
      const reason = `${owner} may not use this model; GET /v1/models lists the models that it may use`
      expect(refused).toEqual({ ...forbidden, message: reason, scope })
      const groupId = scope === 'group' ? group.body['id'] : undefined
      expect(gateway.log[0]?.fields).toMatchObject({ error_code: 'LM-4005', reason, scope })
      expect(gateway.log[0]?.fields['group_id']).toBe(groupId)
      const { body } = await gateway.admin('GET', '/admin/requests')
      expect(body).toMatchObject({ rows: [{ error_code: 'LM-4005', reason }] })
    },
  )

  test('LM-2001 comes before LM-4005, and LM-4005 before LM-2002', async () => {
    const { key, ask } = await keyedGateway(config)
    const held = await key({ models: ['small'] })
    expect(errorIn(await ask(held, chat('nowhere')))).toMatchObject({ code: 'LM-2001' })
    expect(errorIn(await ask(held, chat('vector')))).toMatchObject({ code: 'LM-4005' })
    const free = await key({ models: ['vector'] })
    expect(errorIn(await ask(free, chat('vector')))).toMatchObject({ code: 'LM-2002' })
  })

  test('the refusal counts in no limit, costs nothing and has no usage row', async () => {
    const gateway = await keyedGateway(config)
    const held = await gateway.key({ models: ['small'], rpm_limit: 1, budget_max: 1 })
    await gateway.ask(held, chat('large'))
    gateway.upstream.next(used(8))
    expect((await gateway.ask(held, chat('small'))).status).toBe(200)
    expect((await gateway.rows()).map(({ model }) => model)).toEqual(['small'])
  })

  test('the fallbacks of an allowed model serve without being listed', async () => {
    const { key, ask, upstream } = await keyedGateway(config)
    const held = await key({ models: ['small'] })
    upstream.next(json({}, { status: 500 }), used(8))
    const answer = await ask(held, chat('small'))
    expect([answer.status, answer.headers.get('x-gateway-model-used')]).toEqual([200, 'large'])
  })

  test('GET /v1/models/{id} shows only a model that may be used', async () => {
    const { key, get } = await keyedGateway(config)
    const { headers } = await key({ models: ['lab/*'] })
    expect((await get('/v1/models/lab/x', { headers })).status).toBe(200)
    const refused = await get('/v1/models/small', { headers })
    expect([refused.status, await refused.json()]).toEqual([403, { error: forbidden }])
    expect((await get('/v1/models/nowhere', { headers })).status).toBe(404)
  })

  test('LM-2001 suggests only an id that the key may use', async () => {
    const { key, ask, get } = await keyedGateway(config)
    const suggestions = async ({ models }: { models: string[] | null }) => {
      const held = await key({ models })
      const refused = await ask(held, chat('larg'))
      const { error } = (await (
        await get('/v1/models/larg', { headers: held.headers })
      ).json()) as { error: object }
      return [errorIn(refused), error]
    }
    const naming = { message: expect.stringContaining('did you mean large?') }
    const silent = { message: expect.not.stringContaining('did you mean') }
    for (const models of [null, ['large'], ['l*']]) {
      expect(await suggestions({ models })).toMatchObject([naming, naming])
    }
    // Where the list allows the unknown id itself, the refusal comes from another line.
    for (const models of [['small'], ['larg', 'small']]) {
      expect(await suggestions({ models })).toMatchObject([silent, silent])
    }
  })

  test('embeddings are refused alike', async () => {
    const { key, ask } = await keyedGateway(config)
    const body = { model: 'vector', input: 'x' }
    const refused = await ask(await key({ models: ['small'] }), body, '/v1/embeddings')
    expect(errorIn(refused)).toEqual(forbidden)
  })
})

describe('a group with a list of models', () => {
  test('its keys may use what both lists allow', async () => {
    const gateway = await keyedGateway(config)
    const group = await gateway.group({ models: ['small', 'lab/*'] })
    const both = await gateway.key({ group_id: group, models: ['small', 'large'] })
    const open = await gateway.key({ group_id: group })
    expect(await listed(gateway, both)).toEqual(['small'])
    expect(await listed(gateway, open)).toEqual(['small', 'lab/x'])
    expect(errorIn(await gateway.ask(both, chat('large')))).toEqual({
      ...forbidden,
      message: forbidden.message.replace('the key', 'the group of the key'),
      scope: 'group',
    })
    expect(errorIn(await gateway.ask(both, chat('lab/x')))).toEqual(forbidden)
  })

  test('a change applies from the next request on, and null allows every model', async () => {
    const gateway = await keyedGateway(config)
    const group = await gateway.group({ models: ['large'] })
    const held = await gateway.key({ group_id: group, models: ['*'] })
    expect(await listed(gateway, held)).toEqual(['large'])
    await gateway.admin('PATCH', `/admin/groups/${group}`, { models: ['vector'] })
    expect(await listed(gateway, held)).toEqual(['vector'])
    await gateway.admin('PATCH', `/admin/groups/${group}`, { models: null })
    expect(await listed(gateway, held)).toEqual(['small', 'large', 'lab/x', 'vector'])
    await gateway.admin('PATCH', `/admin/keys/${held.id}`, { models: ['l*'] })
    expect(await listed(gateway, held)).toEqual(['large', 'lab/x'])
  })
})

test('a request that is running keeps its model when the list changes', async () => {
  const gateway = await keyedGateway(config)
  const held = await gateway.key({ models: ['small'] })
  gateway.upstream.next(async (request) => {
    await gateway.admin('PATCH', `/admin/keys/${held.id}`, { models: ['lab/x'] })
    return used(8)(request)
  })
  expect((await gateway.ask(held, chat('small'))).status).toBe(200)
  expect(errorIn(await gateway.ask(held, chat('small')))).toEqual(forbidden)
})
