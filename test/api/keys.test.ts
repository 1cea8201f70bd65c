import { describe, expect, test } from 'vitest'
import { blake3Hex } from '../../src/wire/digest.ts'
import { completion } from '../support/answers.ts'
import { series } from '../support/exposition.ts'
import {
  type Answer,
  type ClientKey,
  clientKey,
  errorIn,
  type KeyedGateway,
  keyedGateway,
  masterKey,
  pricedProvider,
  prompt,
  readSpend,
  used,
} from '../support/keyed-gateway.ts'
import { json } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const hello = prompt()

/** Returns the headers of invalid credentials, by the reason why each is invalid. */
async function refusedHeaders(gateway: KeyedGateway): Promise<Record<string, HeadersInit>> {
  const { admin, key, clock } = gateway
  const [disabled, deleted, rotated] = [await key(), await key(), await key()]
  await admin('PATCH', `/admin/keys/${disabled.id}`, { disabled: true })
  await admin('DELETE', `/admin/keys/${deleted.id}`)
  await admin('POST', `/admin/keys/${rotated.id}/rotate`)
  const expired = await key({ expires_at: Math.floor(clock.now() / 1000) })
  const good = await key()
  return {
    missing: {},
    empty: { authorization: 'Bearer ' },
    'another scheme': { authorization: `Basic ${good.secret}` },
    malformed: { authorization: 'Bearer sk-gw-1' },
    'in capitals': { authorization: `Bearer ${good.secret.toUpperCase()}` },
    unknown: { authorization: `Bearer sk-gw-${'0'.repeat(64)}` },
    'the master key': { authorization: `Bearer ${masterKey}` },
    'malformed in x-api-key': { 'x-api-key': 'sk-gw-1' },
    'malformed in api-key': { 'api-key': 'sk-gw-1' },
    disabled: disabled.headers,
    deleted: deleted.headers,
    expired: expired.headers,
    'rotated away': rotated.headers,
  }
}

const doors: readonly (readonly [method: string, path: string])[] = [
  ['POST', '/v1/chat/completions'],
  ['POST', '/v1/embeddings'],
  ['POST', '/v1/rerank'],
  ['POST', '/v2/rerank'],
  ['POST', '/rerank'],
  ['GET', '/v1/models'],
  ['HEAD', '/v1/models'],
  ['GET', '/v1/models/m'],
  ['GET', '/v1/models/unknown'],
]

describe('a request without a valid key', () => {
  test('every invalid credential gets the same 401 on every route', async () => {
    const gateway = await keyedGateway()
    const answers = new Map<string, string[]>()
    for (const [why, headers] of Object.entries(await refusedHeaders(gateway))) {
      for (const [method, path] of doors) {
        const init = { method, headers: { ...headers, 'x-request-id': 'fixed' } }
        // An invalid body proves that the body is not read.
        const body = method === 'POST' ? { body: '{"model":' } : {}
        const response = await gateway.get(path, { ...init, ...body })
        const text = method === 'HEAD' ? refusalText : await response.text()
        const answer = JSON.stringify([response.status, [...response.headers], text])
        answers.set(answer, [...(answers.get(answer) ?? []), `${why}: ${method} ${path}`])
      }
    }
    expect([...answers.values()]).toHaveLength(1)
    const [[status, headers, text] = []] = [...answers.keys()].map((key) => JSON.parse(key))
    expect(status).toBe(401)
    expect(Object.fromEntries(headers)).toMatchObject({
      'www-authenticate': 'Bearer',
      'x-should-retry': 'false',
    })
    expect(text).toBe(refusalText)
    expect(gateway.upstream.requests).toEqual([])
    expect(await gateway.rows()).toEqual([])
  })

  test('a 401 appears in the metrics and the log, without a usage row', async () => {
    const gateway = await keyedGateway()
    expect((await gateway.chat(hello)).status).toBe(401)
    const text = await (await gateway.get('/metrics')).text()
    const counted = series(text, 'gateway_request_duration_seconds_count')
    expect(counted).toEqual([
      {
        labels: { capability: 'chat', api: 'chat', model: '', provider: '', status: '401' },
        value: 1,
      },
    ])
    expect(gateway.log.at(-1)).toMatchObject({
      message: 'request',
      fields: { status: 401, error_code: 'LM-4004', key_id: undefined },
    })
    expect(await gateway.rows()).toEqual([])
  })

  test('a 401 takes the same time for every invalid credential', async () => {
    const gateway = await keyedGateway()
    const kinds = Object.entries(await refusedHeaders(gateway))
    // The first rounds run code that is not compiled yet.
    await measure(gateway, kinds, 100)
    // Other processes add to times, so the quickest tell most. What takes longer does so in every run.
    let ratio = Number.POSITIVE_INFINITY
    for (let run = 0; run < 5 && ratio >= 2; run++) {
      const times = await measure(gateway, kinds, 300)
      ratio = Math.max(...times) / Math.min(...times)
    }
    expect(ratio).toBeLessThan(2)
  })

  /** The time of each kind of request, in ms, that a tenth of its requests undercut. */
  async function measure(
    gateway: KeyedGateway,
    kinds: readonly (readonly [string, HeadersInit])[],
    rounds: number,
  ): Promise<readonly number[]> {
    const times = kinds.map(() => [] as number[])
    for (let round = 0; round < rounds; round++) {
      for (const [at, [, headers]] of kinds.entries()) {
        const start = performance.now()
        await (await gateway.get('/v1/models', { headers })).text()
        times[at]?.push(performance.now() - start)
      }
    }
    return times.map((all) => all.sort((a, b) => a - b)[Math.floor(rounds / 10)] ?? 0)
  }

  test('without auth, any credential is accepted', async () => {
    const { get } = await keyedGateway()
    for (const path of ['/health', '/health/providers', '/metrics']) {
      expect((await get(path)).status).toBe(200)
    }
    expect((await get('/v1/unknown')).status).toBe(404)
    expect((await get('/v1/chat/completions')).status).toBe(405)
  })
})

const refusalText = JSON.stringify({
  error: {
    code: 'LM-4004',
    type: 'invalid_request',
    message: 'the API key is missing or not valid',
    param: null,
    request_id: 'fixed',
  },
})

describe('a key', () => {
  test.each([
    ['Authorization', (secret: string) => ({ Authorization: `Bearer ${secret}` })],
    ['a scheme in other letters', (secret: string) => ({ authorization: `bEARER ${secret}` })],
    ['x-api-key', (secret: string) => ({ 'x-api-key': secret })],
    ['api-key', (secret: string) => ({ 'api-key': secret })],
  ])('a key is taken from %s', async (_, headersOf) => {
    const { key, get, upstream, chat, log } = await keyedGateway()
    const { secret } = await key()
    upstream.next(json(completion()))
    const headers = headersOf(secret)
    expect((await get('/v1/models', { headers })).status).toBe(200)
    expect((await chat(hello, { headers })).status).toBe(200)
    expect(JSON.stringify(upstream.requests[0]?.headers)).not.toContain(secret)
    expect(JSON.stringify(log)).not.toContain(secret)
  })

  test('a valid key is accepted beside a wrong one, and neither is logged', async () => {
    const { key, upstream, chat, log } = await keyedGateway()
    const { id, secret } = await key()
    const wrong = `sk-gw-${'0'.repeat(64)}`
    upstream.next(json(completion()))
    const headers = { authorization: `Bearer ${wrong}`, 'x-api-key': wrong }
    expect((await chat(hello, { headers: { ...headers, 'api-key': secret } })).status).toBe(200)
    expect((await chat(hello, { headers: { ...headers, 'api-key': wrong } })).status).toBe(401)
    const fields = log.filter(({ message }) => message === 'request').map((line) => line.fields)
    expect(fields).toMatchObject([{ key_id: id }, { status: 401 }])
    expect(JSON.stringify(log)).not.toMatch(new RegExp(`${wrong}|${secret}`))
  })

  test('a rotated key has a new secret at once, and everything else stays', async () => {
    const gateway = await keyedGateway()
    const { ask, admin, upstream, store } = gateway
    const before = await gateway.key({ budget_max: 1, rpm_limit: 9, tpm_limit: 1000 })
    upstream.always(used(8, 4))
    await ask(before, hello)
    const rotated = await admin('POST', `/admin/keys/${before.id}/rotate`)
    expect(rotated.status).toBe(200)
    const { key: secret, ...record } = rotated.body
    const after = clientKey(before.id, String(secret))
    expect((await ask(before, hello)).status).toBe(401)
    const answer = await ask(after, hello)
    expect(answer.headers.get('x-ratelimit-remaining-requests')).toBe('7')
    expect(record).toMatchObject({ id: before.id, budget_max: 1, budget_spent: 0.000016 })
    expect(await readSpend(gateway, before.id)).toBe(0.000032)
    expect(JSON.stringify([...store.keys.values()], withBigints)).not.toMatch(/sk-gw-/)
  })

  test('a disabled key stops working at once, and works again when enabled', async () => {
    const { key, ask, admin, upstream } = await keyedGateway()
    const held = await key()
    upstream.always(used(8))
    const statuses: number[] = []
    for (const disabled of [false, true, true, false]) {
      expect((await admin('PATCH', `/admin/keys/${held.id}`, { disabled })).status).toBe(200)
      statuses.push((await ask(held, hello)).status)
    }
    expect(statuses).toEqual([200, 401, 401, 200])
  })

  test('a key expires to the second, and a later expiry revives it', async () => {
    const { key, ask, admin, upstream, clock } = await keyedGateway()
    const seconds = Math.floor(clock.now() / 1000)
    const held = await key({ expires_at: seconds + 10 })
    upstream.always(used(8))
    await clock.advance(9_999)
    expect((await ask(held, hello)).status).toBe(200)
    await clock.advance(1)
    expect((await ask(held, hello)).status).toBe(401)
    await admin('PATCH', `/admin/keys/${held.id}`, { expires_at: seconds + 11 })
    expect((await ask(held, hello)).status).toBe(200)
    await clock.advance(1_000)
    expect((await ask(held, hello)).status).toBe(401)
    await admin('PATCH', `/admin/keys/${held.id}`, { expires_at: null })
    expect((await ask(held, hello)).status).toBe(200)
  })

  test('a deleted key is a tombstone: it cannot be changed, and its spend stays', async () => {
    const gateway = await keyedGateway()
    const { ask, admin, upstream, store } = gateway
    const held = await gateway.key({ budget_max: 1 })
    upstream.next(used(8, 4))
    await ask(held, hello)
    const path = `/admin/keys/${held.id}`
    expect((await admin('DELETE', path)).status).toBe(204)
    expect((await ask(held, hello)).status).toBe(401)
    const writes: Answer[] = [
      await admin('PATCH', path, { name: 'b' }),
      await admin('DELETE', path),
      await admin('POST', `${path}/rotate`),
      await admin('POST', `${path}/grant`, { amount: 1 }),
    ]
    for (const { status, body } of writes) {
      expect({ status, body }).toMatchObject({ status: 400, body: { error: { code: 'LM-1001' } } })
    }
    const tombstone = { id: held.id, budget_spent: 0.000016, deleted_at: expect.any(Number) }
    expect((await admin('GET', path)).body).toMatchObject(tombstone)
    expect((await admin('GET', '/admin/keys')).body['keys']).toEqual([])
    const all = await admin('GET', '/admin/keys?include_deleted=true')
    expect(all.body['keys']).toMatchObject([tombstone])
    // The last spend was written without waiting for the next flush.
    expect([...store.keys.values()]).toMatchObject([{ budgetSpent: 16_000n }])
  })

  test('a request runs to its end as admitted when its key changes meanwhile', async () => {
    const gateway = await keyedGateway()
    const held = await gateway.key({ budget_max: 1 })
    const answer = deferredAnswer(gateway, held)
    await gateway.admin('DELETE', `/admin/keys/${held.id}`)
    expect((await answer()).status).toBe(200)
    expect(await readSpend(gateway, held.id)).toBe(0.000016)
  })
})

describe('a change through the admin API', () => {
  test('a change is stored and in force before it is answered', async () => {
    const { key, ask, admin, store, upstream } = await keyedGateway()
    const held = await key()
    upstream.always(used(8))
    await admin('PATCH', `/admin/keys/${held.id}`, { rpm_limit: 1, name: 'b' })
    expect([...store.keys.values()]).toMatchObject([{ rpmLimit: 1, name: 'b' }])
    expect((await ask(held, hello)).status).toBe(200)
    expect((await ask(held, hello)).status).toBe(429)
    await admin('PATCH', `/admin/keys/${held.id}`, { rpm_limit: null })
    expect((await ask(held, hello)).status).toBe(200)
    expect((await ask(held, hello)).headers.get('x-ratelimit-limit-requests')).toBe(null)
  })

  test('a change that the database refuses changes nothing, and requests continue', async () => {
    const { key, ask, admin, store, upstream } = await keyedGateway()
    const held = await key({ rpm_limit: 5 })
    upstream.always(used(8))
    store.trouble = 'refuse'
    for (const answer of [
      await admin('PATCH', `/admin/keys/${held.id}`, { rpm_limit: 0 }),
      await admin('POST', `/admin/keys/${held.id}/rotate`),
      await admin('DELETE', `/admin/keys/${held.id}`),
      await admin('POST', '/admin/keys', { name: 'b' }),
      await admin('GET', '/admin/usage'),
    ]) {
      expect(answer.status).toBe(503)
      expect(answer.headers.get('retry-after')).toBe('1')
      expect(errorIn(answer)).toMatchObject({
        code: 'LM-5003',
        type: 'internal',
        message: 'the database is out; try again',
        retry_after: 1,
      })
    }
    expect((await ask(held, hello)).status).toBe(200)
    store.trouble = 'none'
    expect((await admin('GET', `/admin/keys/${held.id}`)).body).toMatchObject({ rpm_limit: 5 })
  })

  test('a change needs the master key', async () => {
    const { key, get } = await keyedGateway()
    const { headers, secret } = await key()
    const wrong: HeadersInit[] = [
      {},
      headers,
      { 'x-api-key': masterKey },
      { authorization: `Basic ${masterKey}` },
      { authorization: `Bearer ${masterKey.slice(1)}0` },
      { authorization: `Bearer ${secret} ${masterKey}` },
    ]
    for (const each of wrong) {
      const response = await get('/admin/keys', { headers: each })
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe('Bearer')
      expect(await response.json()).toMatchObject({ error: { code: 'LM-4004' } })
    }
  })
})

test('without auth there are no admin routes, no database and no keys', async () => {
  const { get, chat, upstream } = await watchedGateway(pricedProvider)
  upstream.next(json(completion()))
  expect((await chat(hello)).status).toBe(200)
  const headers = { authorization: `Bearer ${masterKey}` }
  for (const path of ['/admin/keys', '/admin/groups', '/admin/usage', '/admin/config']) {
    const response = await get(path, { headers })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { code: 'LM-1003' } })
  }
})

describe('the group of a key', () => {
  test('group_id keeps, clears or sets the group: absent, null or an id', async () => {
    const { key, group, admin } = await keyedGateway()
    const [red, blue] = [await group(), await group()]
    const { id } = await key({ group_id: red })
    const groups: unknown[] = []
    for (const change of [{}, { name: 'b' }, { group_id: blue }, { group_id: null }]) {
      groups.push((await admin('PATCH', `/admin/keys/${id}`, change)).body['group_id'])
    }
    expect(groups).toEqual([red, red, blue, null])
  })

  test('an unknown or deleted group is refused before anything is written', async () => {
    const { key, group, admin } = await keyedGateway()
    const gone = await group()
    await admin('DELETE', `/admin/groups/${gone}`)
    const { id } = await key({ rpm_limit: 1 })
    for (const group_id of [gone, '0'.repeat(32), 'x', 7]) {
      const answers = [
        await admin('PATCH', `/admin/keys/${id}`, { group_id, rpm_limit: 2 }),
        await admin('POST', '/admin/keys', { name: 'b', group_id }),
      ]
      for (const answer of answers) {
        expect(answer.status).toBe(400)
        expect(errorIn(answer)).toMatchObject({ code: 'LM-1001', param: 'group_id' })
      }
    }
    const { body } = await admin('GET', '/admin/keys')
    expect(body['keys']).toMatchObject([{ id, rpm_limit: 1, group_id: null }])
  })

  test('a group cannot be deleted while it has keys that are not deleted', async () => {
    const { key, group, admin } = await keyedGateway()
    const pool = await group()
    const [disabled, other] = [await key({ group_id: pool }), await key({ group_id: pool })]
    await admin('PATCH', `/admin/keys/${disabled.id}`, { disabled: true })
    await admin('DELETE', `/admin/keys/${other.id}`)
    const refusal = (keys: string) =>
      `the group has ${keys} not deleted: delete them or remove them from it first`
    const refused = await admin('DELETE', `/admin/groups/${pool}`)
    expect(refused.status).toBe(400)
    expect(errorIn(refused)['message']).toBe(refusal('1 key that is'))
    const third = await key({ group_id: pool })
    const again = await admin('DELETE', `/admin/groups/${pool}`)
    expect(errorIn(again)['message']).toBe(refusal('2 keys that are'))
    await admin('DELETE', `/admin/keys/${third.id}`)
    await admin('DELETE', `/admin/keys/${disabled.id}`)
    expect((await admin('DELETE', `/admin/groups/${pool}`)).status).toBe(204)
    const path = `/admin/groups/${pool}`
    for (const { status } of [
      await admin('PATCH', path, { name: 'b' }),
      await admin('POST', `${path}/grant`, { amount: 1 }),
      await admin('DELETE', path),
    ]) {
      expect(status).toBe(400)
    }
    expect((await admin('GET', '/admin/groups')).body['groups']).toEqual([])
  })

  test('deleting a group saves all spend of its keys', async () => {
    const gateway = await keyedGateway()
    const { group, key, ask, admin, upstream, store } = gateway
    const pool = await group({ budget_max: 1 })
    const held = await key({ group_id: pool })
    upstream.next(used(8, 4))
    await ask(held, hello)
    await admin('PATCH', `/admin/keys/${held.id}`, { group_id: null })
    await admin('DELETE', `/admin/groups/${pool}`)
    expect([...store.groups.values()]).toMatchObject([{ budgetSpent: 16_000n }])
  })
})

describe('a reload of the configuration', () => {
  test('a reload loads keys that were created offline, and keeps unsaved spend', async () => {
    const gateway = await keyedGateway()
    const { ask, store, upstream, clock } = gateway
    const held = await gateway.key({ budget_max: 1, rpm_limit: 2 })
    upstream.always(used(8, 4))
    await ask(held, hello)
    const [row] = store.keys.values()
    // As another gateway on the same database does.
    const secret = `sk-gw-${'7'.repeat(64)}`
    if (row) {
      const id = 'b'.repeat(32) as typeof row.id
      await store.createKey({ ...row, id, rpmLimit: null, digest: blake3Hex(secret) })
    }
    expect((await ask(clientKey('b', secret), hello)).status).toBe(401)
    await gateway.gateway.reload()
    expect((await ask(clientKey('b', secret), hello)).status).toBe(200)
    expect((await gateway.admin('GET', '/admin/keys')).body['keys']).toHaveLength(2)
    expect(await readSpend(gateway, held.id)).toBe(0.000016)
    expect((await ask(held, hello)).headers.get('x-ratelimit-remaining-requests')).toBe('0')
    await clock.advance(10_000)
    expect([...store.keys.values()].map(({ budgetSpent }) => budgetSpent)).toEqual([
      32_000n,
      16_000n,
    ])
  })
})

/** Sends a request; the returned function releases its answer and resolves to it. */
function deferredAnswer(gateway: KeyedGateway, key: ClientKey): () => Promise<Answer> {
  let release = () => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  gateway.upstream.next(async (request) => {
    await gate
    return used(8, 4)(request)
  })
  const answer = gateway.ask(key, hello)
  return async () => {
    release()
    return answer
  }
}

function withBigints(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
