import { createHmac } from 'node:crypto'
import { describe, expect, test, vi } from 'vitest'
import { ConfigError } from '../../src/index.ts'
import { expectErrorShape } from '../support/contract.ts'
import { testGateway } from '../support/gateway.ts'
import {
  type ClientKey,
  errorIn,
  type KeyedOptions,
  masterKey,
  pricedProvider,
  prompt,
  used,
} from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { reloadingGateway, withAuth } from '../support/reloading-gateway.ts'
import { ScriptedUpstream, silent, whole } from '../support/scripted-upstream.ts'

const env = { GATEWAY_MASTER_KEY: masterKey, P_KEY: 'sk-p' }
const everything = [
  'budget.threshold',
  'budget.exhausted',
  'key.disabled',
  'key.rotated',
  'key.deleted',
]
const defaults = {
  events: ['budget.threshold', 'budget.exhausted', 'key.disabled'],
  thresholds: [50, 80, 95],
  channel_capacity: 1024,
  timeout_ms: 5000,
  max_attempts: 5,
  retry_base_ms: 500,
}
const url = 'https://hooks.test/in'
const block = `[webhooks]\nurl = "${url}"\n`

interface Event {
  readonly id: string
  readonly type: string
  readonly scope: string
  readonly subject_id: string
  readonly name: string
  readonly budget_max: number | null
  readonly budget_spent: number
  readonly threshold: number | null
  readonly timestamp: number
}

/** A gateway with a scripted vendor and a scripted webhook receiver. */
async function gatewayWithWebhooks(config = '', options: KeyedOptions = {}) {
  const [vendor, receiver] = [new ScriptedUpstream(), new ScriptedUpstream()]
  receiver.always(whole('', { status: 204 }))
  const gateway = await reloadingGateway(config + pricedProvider, {
    env,
    upstream: (request) =>
      (new URL(request.url).host.startsWith('hooks') ? receiver : vendor).port(request),
    ...options,
  })
  let read = 0
  /** Returns the events received since the last call. */
  const events = async (): Promise<readonly Event[]> => {
    await settled()
    const texts = receiver.requests.map((_, index) => receiver.body(index) as Event)
    return texts.slice(read, (read = texts.length))
  }
  return {
    ...gateway,
    vendor,
    receiver,
    events,
    /** Returns the same events by percentage or type. */
    listFired: async () => (await events()).map(({ type, threshold }) => threshold ?? type),
    /** Sends a request that costs `microUsd` millionths of a dollar. */
    spend(client: ClientKey, microUsd: number) {
      vendor.next(used(microUsd))
      return gateway.ask(client, prompt(8, { max_tokens: 1 }))
    },
    put: (settings: object) => gateway.admin('PUT', '/admin/webhooks', { url, ...settings }),
    state: async () => (await gateway.admin('GET', '/admin/webhooks')).body,
  }
}

const micro = 1e-6

describe('budget events of requests', () => {
  test.each(['key', 'group'] as const)(
    'the budget of a %s fires each percentage and its exhaustion once, and again after a grant',
    async (scope) => {
      const { key, group, spend, ask, listFired, events, admin } = await gatewayWithWebhooks(block)
      const budget = { name: 'it', budget_max: 1000 * micro }
      const pool = scope === 'group' ? await group(budget) : null
      const client = await key(pool === null ? budget : { group_id: pool })
      const id = pool ?? client.id

      await spend(client, 499)
      expect(await listFired()).toEqual([])
      await spend(client, 1)
      expect(await events()).toEqual([
        {
          id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
          type: 'budget.threshold',
          scope,
          subject_id: id,
          name: 'it',
          budget_max: 0.001,
          budget_spent: 0.0005,
          threshold: 50,
          timestamp: 1_764_000_000,
        },
      ])
      await spend(client, 100)
      expect(await listFired()).toEqual([])
      await spend(client, 200)
      expect(await listFired()).toEqual([80])
      await spend(client, 150)
      expect(await listFired()).toEqual([95])
      await spend(client, 500)
      expect(await listFired()).toEqual([])
      expect((await ask(client, prompt())).status).toBe(402)
      expect((await ask(client, prompt())).status).toBe(402)
      expect(await events()).toMatchObject([
        { type: 'budget.exhausted', scope, subject_id: id, budget_spent: 0.00145, threshold: null },
      ])

      await admin('POST', `/admin/${scope}s/${id}/grant`, { amount: 1000 * micro })
      expect(await listFired()).toEqual([])
      await spend(client, 150)
      expect(await listFired()).toEqual([80])
      await spend(client, 300)
      expect(await listFired()).toEqual([95])
      await spend(client, 200)
      expect((await ask(client, prompt())).status).toBe(402)
      expect(await listFired()).toEqual(['budget.exhausted'])
    },
  )

  test('exhaustion fires again after one request was too large and others were served', async () => {
    const { key, group, ask, spend, listFired, clock } = await gatewayWithWebhooks(block)
    const pool = await group({ budget_max: 1000 * micro })
    const client = await key({ group_id: pool })
    expect((await ask(client, prompt(8, { max_tokens: 100_000 }))).status).toBe(402)
    expect(await listFired()).toEqual(['budget.exhausted'])
    await spend(client, 990)
    expect(await listFired()).toEqual([50, 80, 95])
    await clock.advance(60_000)
    expect((await ask(client, prompt())).status).toBe(402)
    expect(await listFired()).toEqual(['budget.exhausted'])
    expect((await ask(client, prompt())).status).toBe(402)
    expect(await listFired()).toEqual([])
  })

  test('a request that crosses several percentages fires each, the lowest first', async () => {
    const { key, spend, listFired } = await gatewayWithWebhooks(block)
    await spend(await key({ budget_max: 1000 * micro }), 1500)
    expect(await listFired()).toEqual([50, 80, 95])
  })

  test('a key and its group both fire, and the refusal names the reason', async () => {
    const { key, group, spend, ask, events } = await gatewayWithWebhooks(block)
    const pool = await group({ budget_max: 100 * micro })
    const client = await key({ group_id: pool, budget_max: 200 * micro })
    await spend(client, 100)
    const refused = errorIn(await ask(client, prompt(8, { max_tokens: 1 })))
    expect(refused).toMatchObject({ code: 'LM-4001', scope: 'group' })
    const fired = (await events()).map(({ scope, threshold, type }) => [scope, threshold ?? type])
    expect(fired).toEqual([
      ['key', 50],
      ['group', 50],
      ['group', 80],
      ['group', 95],
      ['group', 'budget.exhausted'],
    ])
  })

  test('events do not fire again after a reload, nor after a restart when they were saved', async () => {
    const store = new MemoryStore()
    const first = await gatewayWithWebhooks(block, { store })
    const client = await first.key({ budget_max: 1000 * micro })
    await first.spend(client, 600)
    expect(await first.listFired()).toEqual([50])
    await first.change(block + pricedProvider.replace('= 2', '= 3'))
    await first.spend(client, 100)
    expect(await first.listFired()).toEqual([])
    await first.rows()
    await first.gateway.close()
    store.closed = false

    const second = await gatewayWithWebhooks(block, { store })
    await second.spend(client, 150)
    expect(await second.listFired()).toEqual([80])
    await second.gateway.close()
  })

  test('nothing fires while webhooks are off, nor later for that time', async () => {
    const { key, spend, listFired, put, receiver } = await gatewayWithWebhooks()
    const client = await key({ budget_max: 1000 * micro })
    await spend(client, 600)
    await put({})
    await spend(client, 100)
    expect(receiver.requests).toEqual([])
    await spend(client, 100)
    expect(await listFired()).toEqual([80])
  })
})

describe('events of the admin API', () => {
  test('disabling, rotating and deleting a key fires an event with its budget', async () => {
    const { key, admin, spend, events } = await gatewayWithWebhooks(
      `${block}events = ${JSON.stringify(everything)}\n`,
    )
    const client = await key({ name: 'it', budget_max: 1 })
    await spend(client, 9)
    const path = `/admin/keys/${client.id}`
    await admin('POST', `${path}/rotate`)
    await admin('PATCH', path, { disabled: true })
    await admin('PATCH', path, { disabled: true, name: 'the same' })
    await admin('PATCH', path, { disabled: false })
    await admin('DELETE', path)
    const fired = await events()
    expect(fired.map(({ type }) => type)).toEqual(['key.rotated', 'key.disabled', 'key.deleted'])
    expect(fired[0]).toMatchObject({
      scope: 'key',
      subject_id: client.id,
      name: 'it',
      budget_max: 1,
      budget_spent: 0.000009,
      threshold: null,
    })
    expect(new Set(fired.map(({ id }) => id)).size).toBe(3)
  })

  test('only disabling fires by default', async () => {
    const { key, admin, listFired } = await gatewayWithWebhooks(block)
    const path = `/admin/keys/${(await key()).id}`
    await admin('POST', `${path}/rotate`)
    await admin('PATCH', path, { disabled: true })
    await admin('DELETE', path)
    expect(await listFired()).toEqual(['key.disabled'])
  })

  test('a refused change fires nothing', async () => {
    const { key, admin, listFired } = await gatewayWithWebhooks(
      `${block}events = ${JSON.stringify(everything)}\n`,
    )
    const path = `/admin/keys/${(await key()).id}`
    await admin('PATCH', path, { disabled: true, rpm_limit: -1 })
    await admin('DELETE', path)
    await admin('DELETE', path)
    await admin('POST', `${path}/rotate`)
    await admin('PATCH', path, { disabled: true })
    expect(await listFired()).toEqual(['key.deleted'])
  })
})

describe('settings', () => {
  test('settings come from the database, else from the file, else there are none', async () => {
    const { change, put, state, admin } = await gatewayWithWebhooks()
    const none = { enabled: false, settings: null, signed: false, signing_key_stored: false }
    expect(await state()).toEqual({ ...none, source: 'none', updated_at: null })
    await change(block + pricedProvider)
    const config = { enabled: true, source: 'config', settings: { url, ...defaults } }
    expect(await state()).toMatchObject({ ...config, updated_at: null })
    const answer = await put({ thresholds: [90, 10] })
    const database = {
      enabled: true,
      source: 'database',
      settings: { url, ...defaults, thresholds: [10, 90] },
      updated_at: 1_764_000_000,
    }
    expect(answer).toMatchObject({ status: 200, body: database })
    await change(block.replace('/in', '/other') + pricedProvider)
    expect(await state()).toMatchObject(database)
    expect((await admin('DELETE', '/admin/webhooks')).status).toBe(204)
    await change(block + pricedProvider)
    expect(await state()).toMatchObject({ enabled: false, source: 'database' })
  })

  test('stored settings survive a restart, whether on or off', async () => {
    const store = new MemoryStore()
    const first = await gatewayWithWebhooks(block, { store })
    await first.put({ url: 'https://hooks.test/stored' })
    await first.gateway.close()
    store.closed = false
    const second = await gatewayWithWebhooks(block, { store })
    expect(await second.state()).toMatchObject({
      enabled: true,
      source: 'database',
      settings: { url: 'https://hooks.test/stored' },
    })
    await second.admin('DELETE', '/admin/webhooks')
    await second.gateway.close()
    store.closed = false
    const third = await gatewayWithWebhooks(block, { store })
    expect(await third.state()).toMatchObject({ enabled: false, source: 'database' })
    const path = `/admin/keys/${(await third.key()).id}`
    await third.admin('PATCH', path, { disabled: true })
    expect(await third.listFired()).toEqual([])
  })

  test('new settings apply from the next event on', async () => {
    const { key, admin, put, events, receiver } = await gatewayWithWebhooks()
    const disable = async () =>
      admin('PATCH', `/admin/keys/${(await key()).id}`, { disabled: true })
    await disable()
    await put({ events: ['key.disabled'] })
    await disable()
    await put({ url: 'https://hooks.test/two', channel_capacity: 1 })
    await disable()
    await put({ url: 'https://hooks.test/two', events: ['key.deleted'] })
    await disable()
    await admin('DELETE', '/admin/webhooks')
    await disable()
    await put({ url: 'https://hooks.test/three' })
    await disable()
    expect(await events()).toHaveLength(3)
    expect(receiver.requests.map(({ url: to }) => to)).toEqual([
      url,
      'https://hooks.test/two',
      'https://hooks.test/three',
    ])
  })

  test.each([
    [{}, 'url'],
    [{ url: 'ftp://hooks.test' }, 'url'],
    [{ url, events: [] }, 'events'],
    [{ url, events: ['key.created'] }, 'events.0'],
    [{ url, thresholds: [0] }, 'thresholds.0'],
    [{ url, channel_capacity: 0 }, 'channel_capacity'],
    [{ url, signing_key_env: 'SECRET' }, 'signing_key_env'],
  ])('invalid settings are LM-1001 and change nothing: %j', async (body, param) => {
    const { get, state } = await gatewayWithWebhooks(block)
    const before = await state()
    const answer = await get('/admin/webhooks', {
      method: 'PUT',
      headers: { authorization: `Bearer ${masterKey}` },
      body: JSON.stringify(body),
    })
    expect(await expectErrorShape(answer)).toMatchObject({ code: 'LM-1001', param })
    expect(await state()).toEqual(before)
  })
})

/** Waits for `count` deliveries. Signing runs in a thread, so `settled` alone is not enough. */
async function delivered({ requests }: ScriptedUpstream, count: number): Promise<void> {
  await vi.waitFor(() => expect(requests).toHaveLength(count))
  await settled()
}

describe('signatures', () => {
  const computeSignature = (secret: string, body: Uint8Array = new Uint8Array()) =>
    `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

  test('the sent bytes are signed with the variable’s secret, else the stored one, else not at all', async () => {
    const { key, admin, receiver, state, put } = await gatewayWithWebhooks(
      `${block}signing_key_env = "HOOK"\n`,
      {
        env: { ...env, HOOK: 'of-env' },
      },
    )
    const signer = async () => {
      const before = receiver.requests.length
      await admin('PATCH', `/admin/keys/${(await key({ name: 'bücher 📚' })).id}`, {
        disabled: true,
      })
      await delivered(receiver, before + 1)
      const { body, headers } = receiver.requests.at(-1) ?? {}
      const signature = headers?.['x-gateway-signature']
      return ['of-env', 'stored'].find((secret) => computeSignature(secret, body) === signature)
    }
    expect(await signer()).toBe('of-env')
    await admin('PUT', '/admin/webhooks/signing-key', { secret: 'stored' })
    await put({})
    expect(await signer()).toBe('of-env')
    expect(await state()).toMatchObject({ signed: true, signing_key_stored: true })
    expect(JSON.stringify(await state())).not.toMatch(/of-env|"stored"/)
  })

  test('a new stored secret applies from the next event on, and retries keep theirs', async () => {
    const { key, admin, receiver, clock } = await gatewayWithWebhooks(block)
    const disable = async () =>
      admin('PATCH', `/admin/keys/${(await key()).id}`, { disabled: true })
    const signatures = () => receiver.requests.map(({ headers }) => headers['x-gateway-signature'])
    await disable()
    await delivered(receiver, 1)
    expect(signatures()).toEqual([undefined])
    const { status } = await admin('PUT', '/admin/webhooks/signing-key', { secret: 'first' })
    expect(status).toBe(204)
    receiver.next(whole('', { status: 500 }))
    await disable()
    await delivered(receiver, 2)
    await admin('PUT', '/admin/webhooks/signing-key', { secret: 'second' })
    await clock.advance(1_000)
    await delivered(receiver, 3)
    await disable()
    await delivered(receiver, 4)
    const [, once, again, next] = receiver.requests
    expect(once?.headers).toEqual(again?.headers)
    expect(once?.headers['x-gateway-signature']).toBe(computeSignature('first', once?.body))
    expect(next?.headers['x-gateway-signature']).toBe(computeSignature('second', next?.body))
    expect((await admin('DELETE', '/admin/webhooks/signing-key')).status).toBe(204)
    await disable()
    await delivered(receiver, 5)
    expect(signatures().at(-1)).toBeUndefined()
  })

  test('a required signature without a secret refuses the start and names the setting', async () => {
    const start = testGateway(withAuth(`${block}signing_key_env = "HOOK"\n${pricedProvider}`), {
      env,
      openStore: async () => new MemoryStore(),
    })
    await expect(start).rejects.toThrow(ConfigError)
    await expect(start).rejects.toThrow('webhooks.signing_key_env: the variable HOOK is unset')
  })

  test('a missing secret that no setting names leaves a warning only', async () => {
    const { log } = await gatewayWithWebhooks(block)
    expect(log).toContainEqual(
      expect.objectContaining({ level: 'warn', message: expect.stringContaining('unsigned') }),
    )
  })
})

describe('series', () => {
  const names = ['sent_total', 'dropped_total', 'dead_total', 'delivery_seconds_count']

  test('the series exist once webhooks were enabled, and stay', async () => {
    const { count, put, admin, key, change } = await gatewayWithWebhooks()
    const counts = async () => Promise.all(names.map((name) => count(`gateway_webhook_${name}`)))
    expect(await counts()).toEqual([undefined, undefined, undefined, undefined])
    await put({ events: ['key.disabled'] })
    expect(await counts()).toEqual([0, 0, 0, 0])
    await admin('PATCH', `/admin/keys/${(await key()).id}`, { disabled: true })
    await settled()
    await change(pricedProvider.replace('= 2', '= 3'))
    await admin('DELETE', '/admin/webhooks')
    await put({})
    expect(await counts()).toEqual([1, 0, 0, 1])
  })

  test('the series count events given up and events that found the queue full', async () => {
    const { count, put, admin, key, receiver, clock, log } = await gatewayWithWebhooks()
    await put({ channel_capacity: 1, max_attempts: 2 })
    receiver.next(whole('', { status: 500 }), whole('', { status: 307 }))
    const disable = async () =>
      admin('PATCH', `/admin/keys/${(await key()).id}`, { disabled: true })
    for (let events = 0; events < 4; events++) await disable()
    await clock.advance(1_000)
    expect(await count('gateway_webhook_dead_total')).toBe(1)
    expect(await count('gateway_webhook_dropped_total')).toBe(2)
    expect(await count('gateway_webhook_sent_total')).toBe(1)
    expect(
      log.filter(({ message }) => message === 'a webhook event could not be delivered'),
    ).toMatchObject([{ fields: { type: 'key.disabled', reason: 'status 307' } }])
  })
})

test('a silent receiver delays no request, no admin call and no shutdown', async () => {
  const { key, spend, admin, receiver, gateway } = await gatewayWithWebhooks(block)
  receiver.always(silent())
  const client = await key({ budget_max: 1000 * micro })
  expect((await spend(client, 600)).status).toBe(200)
  await settled()
  expect(receiver.requests).toHaveLength(1)
  expect((await spend(client, 300)).status).toBe(200)
  expect((await admin('PATCH', `/admin/keys/${client.id}`, { disabled: true })).status).toBe(200)
  await gateway.close()
  expect(receiver.requests[0]?.signal.aborted).toBe(true)
  expect(receiver.requests).toHaveLength(1)
})

test('without auth the routes are absent, and a [webhooks] table is refused', async () => {
  const { get, gateway } = await testGateway(pricedProvider)
  for (const path of ['/admin/webhooks', '/admin/webhooks/signing-key', '/admin/provider-keys/p']) {
    const answer = await get(path, { method: 'PUT', body: '{}' })
    expect(await expectErrorShape(answer)).toMatchObject({ code: 'LM-1003' })
  }
  await gateway.close()
  await expect(testGateway(block + pricedProvider)).rejects.toThrow('webhooks')
})
