import { describe, expect, test } from 'vitest'
import { testGateway } from '../support/gateway.ts'
import {
  errorIn,
  type KeyedGateway,
  keyedGateway,
  pricedProvider,
  prompt,
  readSpend,
  used,
} from '../support/keyed-gateway.ts'
import { MemoryStore } from '../support/memory-store.ts'

/*
 * `GET /v1/key` and `GET /v1/key/usage`: what the holder of a key sees of it.
 */

describe('the key that asks', () => {
  test('has its name, models, end, budget and what is left of its limits', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key({
      name: 'laptop',
      models: ['m', 'n-*'],
      expires_at: 2_000_000_000,
      budget_max: 1,
      budget_period: 'day',
      rpm_limit: 10,
      tpm_limit: 1_000,
      max_parallel: 3,
    })
    gateway.upstream.next(used(100, 20))
    await gateway.ask(key, prompt(8))
    const { status, headers, body } = await see(gateway, key)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body).toEqual({
      name: 'laptop',
      group: null,
      models: ['m', 'n-*'],
      expires_at: 2_000_000_000,
      budget: {
        max: 1,
        spent: 0.00014,
        reserved: 0,
        period: 'day',
        resets_at: expect.any(Number),
      },
      limits: {
        rpm: { limit: 10, remaining: 9 },
        tpm: { limit: 1_000, remaining: 880 },
        max_parallel: { limit: 3, remaining: 3 },
      },
    })
  })

  test('has null for each limit that it does not have', async () => {
    const gateway = await keyedGateway()
    const { body } = await see(gateway, await gateway.key())
    expect(body).toEqual({
      name: 'a key',
      group: null,
      models: null,
      expires_at: null,
      budget: { max: null, spent: 0, reserved: 0, period: null, resets_at: null },
      limits: { rpm: null, tpm: null, max_parallel: null },
    })
  })

  test('never has less than nothing left of a limit', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key({ budget_max: 1, max_parallel: 2, tpm_limit: 300 })
    gateway.upstream.next(used(5_000, 20))
    await gateway.ask(key, prompt(8))
    const { body } = await see(gateway, key)
    expect(body['limits']).toMatchObject({ tpm: { limit: 300, remaining: 0 } })
  })

  test('has the models of its group where it has no list of its own', async () => {
    const gateway = await keyedGateway()
    const group_id = await gateway.group({ name: 'team', models: ['m'] })
    const { body } = await see(gateway, await gateway.key({ group_id }))
    expect(body).toMatchObject({ group: 'team', models: ['m'] })
    expect(body).not.toHaveProperty('group_amounts')
  })

  test('has the amounts of its group only where the settings say so', async () => {
    const gateway = await keyedGateway(pricedProvider, { auth: 'show_group = true' })
    const group_id = await gateway.group({ name: 'team', budget_max: 2, rpm_limit: 5 })
    const key = await gateway.key({ group_id })
    gateway.upstream.next(used(100, 0))
    await gateway.ask(key, prompt(8))
    const { body } = await see(gateway, key)
    expect(body['group_amounts']).toEqual({
      budget: { max: 2, spent: 0.0001, reserved: 0, period: null, resets_at: null },
      limits: { rpm: { limit: 5, remaining: 4 }, tpm: null, max_parallel: null },
    })
  })

  test('may ask although its limits and its budget are used up', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key({ budget_max: 0, rpm_limit: 0, max_parallel: 0 })
    expect((await see(gateway, key)).status).toBe(200)
    expect((await see(gateway, key)).body['limits']).toMatchObject({ rpm: { remaining: 0 } })
    expect(await readSpend(gateway, key.id)).toBe(0)
  })

  test.each(['/v1/key', '/v1/key/usage'])('is refused without a valid key: %s', async (path) => {
    const gateway = await keyedGateway()
    const response = await gateway.get(path, { headers: { authorization: 'Bearer sk-gw-x' } })
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ error: { code: 'LM-4004' } })
  })

  test.each(['/v1/key', '/v1/key/usage'])('is not known with auth off: %s', async (path) => {
    const response = await (await testGateway()).get(path)
    expect(response.status).toBe(404)
  })
})

describe('the usage of the key that asks', () => {
  test('has the form of the admin API, and only its own rows', async () => {
    const gateway = await keyedGateway()
    const own = await gateway.key()
    const other = await gateway.key()
    for (const key of [own, other, other]) {
      gateway.upstream.next(used(100, 20))
      await gateway.ask(key, prompt(8))
    }
    await gateway.rows()
    const { status, body } = await see(gateway, own, '/v1/key/usage?group_by=key_id&interval=day')
    const wanted = `/admin/usage?group_by=key_id&interval=day&key_id=${own.id}`
    const { body: shown } = await gateway.admin('GET', wanted)
    expect(status).toBe(200)
    expect(body).toEqual(shown)
    expect(body['groups']).toMatchObject([{ group: own.id, requests: 1 }])
  })

  test.each(['other', '', 'a&key_id=b'])(
    'is that of the key whatever key_id says: "%s"',
    async (id) => {
      const gateway = await keyedGateway()
      const key = await gateway.key()
      gateway.upstream.next(used(100, 20))
      await gateway.ask(key, prompt(8))
      await gateway.rows()
      const { status, body } = await see(gateway, key, `/v1/key/usage?key_id=${id}`)
      expect(status).toBe(200)
      expect(body['groups']).toMatchObject([{ group: 'm', requests: 1 }])
    },
  )

  test('names the parameter at fault', async () => {
    const gateway = await keyedGateway()
    const answer = await see(gateway, await gateway.key(), '/v1/key/usage?group_by=colour')
    expect(answer.status).toBe(400)
    expect(errorIn(answer)).toMatchObject({ code: 'LM-1001', param: 'group_by' })
  })

  test('is read at most 16 times at once by one key', async () => {
    const store = new MemoryStore()
    const gateway = await keyedGateway(pricedProvider, { store })
    const [key, other] = [await gateway.key(), await gateway.key()]
    let resolve = () => {}
    const promise = new Promise<void>((done) => {
      resolve = done
    })
    const { sumUsage } = store
    store.sumUsage = async (query) => {
      await promise
      return sumUsage.call(store, query)
    }
    const waiting = Array.from({ length: 16 }, () => see(gateway, key, '/v1/key/usage'))
    const refused = await see(gateway, key)
    expect(refused.status).toBe(429)
    expect(errorIn(refused)['code']).toBe('LM-4006')
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await see(gateway, other)).status).toBe(200)
    resolve()
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(16).fill(200))
    expect((await see(gateway, key)).status).toBe(200)
  })
})

async function see(gateway: KeyedGateway, key: { headers: object }, path = '/v1/key') {
  const response = await gateway.get(path, { headers: { ...key.headers } })
  const body = (await response.json()) as Record<string, unknown>
  return { status: response.status, headers: response.headers, body }
}
