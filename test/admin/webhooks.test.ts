import { describe, expect, test } from 'vitest'
import type { AdminHandler } from '../../src/admin/input.ts'
import { webhookRoutes } from '../../src/admin/webhooks.ts'
import { GatewayError } from '../../src/core/errors.ts'
import { StoreFault } from '../../src/store/index.ts'
import { adminContext } from '../support/admin-context.ts'
import { noAudit } from '../support/audit.ts'
import { ManualClock } from '../support/manual-clock.ts'
import type { MemoryStore } from '../support/memory-store.ts'
import { openBodyLimiter } from '../support/open-body-limiter.ts'
import { opened, settings, url } from '../webhooks/support.ts'

const hooks = '/admin/webhooks'
const signingKey = '/admin/webhooks/signing-key'

interface Answer {
  readonly status: number
  readonly body: unknown
}

async function admin(start: Parameters<typeof opened>[0] = {}) {
  const { webhooks, store } = await opened(start)
  const clock = new ManualClock()
  const bodyLimiter = openBodyLimiter()
  const routes = webhookRoutes({
    webhooks,
    clock,
    audit: noAudit,
    bodyLimit: () => 10_000,
    bodyLimiter,
  })
  /** Returns the response, or the error. */
  const call = async (method: 'GET' | 'PUT' | 'DELETE', path: string, body?: unknown) => {
    const handler = routes[path]?.[method] as AdminHandler
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const request = new Request(`http://gateway.test${path}`, {
      method,
      ...(body !== undefined && { body: text }),
    })
    return Promise.resolve(handler({ request, params: {}, context: adminContext() })).then(
      (reply): Answer => ({ status: reply.status, body: parsed(reply.body) }),
      (error: unknown) => {
        if (error instanceof GatewayError) {
          return { code: error.code, param: error.detail.param, message: error.message }
        }
        throw error
      },
    )
  }
  return { call, store }
}

function parsed(body: unknown): unknown {
  return body instanceof Uint8Array ? JSON.parse(new TextDecoder().decode(body)) : body
}

const off = {
  enabled: false,
  source: 'none',
  settings: null,
  signed: false,
  signing_key_stored: false,
  updated_at: null,
}

describe('GET', () => {
  test('GET shows that webhooks are off when nothing is set', async () => {
    const { call } = await admin()
    expect(await call('GET', hooks)).toEqual({ status: 200, body: off })
  })

  test('GET shows the settings of the file', async () => {
    const { call } = await admin({ block: settings() })
    const state = { ...off, enabled: true, source: 'config', settings: settings() }
    expect(await call('GET', hooks)).toEqual({ status: 200, body: state })
  })
})

describe('PUT of the settings', () => {
  test('PUT fills in the defaults, applies the settings and shows the state', async () => {
    const { call } = await admin()
    const state = {
      ...off,
      enabled: true,
      source: 'database',
      settings: settings(),
      updated_at: 1_764_000_000,
    }
    expect(await call('PUT', hooks, { url })).toEqual({ status: 200, body: state })
    expect(await call('GET', hooks)).toEqual({ status: 200, body: state })
  })

  test('PUT replaces every setting, and absent ones get their defaults', async () => {
    const { call } = await admin({ block: settings({ max_attempts: 9, thresholds: [1] }) })
    await call('PUT', hooks, { url, timeout_ms: 1 })
    expect(
      await call('PUT', hooks, { url, thresholds: [90, 10], events: ['key.deleted'] }),
    ).toMatchObject({
      body: { settings: settings({ thresholds: [10, 90], events: ['key.deleted'] }) },
    })
  })

  test('PUT accepts the settings that GET shows', async () => {
    const block = { ...settings({ thresholds: [] }), signing_key_env: 'SECRET' }
    const { call } = await admin({ block, env: { SECRET: 's' } })
    const { body } = (await call('GET', hooks)) as { body: { settings: unknown } }
    expect(body).toMatchObject({ signed: true, signing_key_stored: false })
    expect(await call('PUT', hooks, body.settings)).toMatchObject({ status: 200 })
  })

  test.each([
    [{}, 'url'],
    [{ url: 'ftp://hooks.test' }, 'url'],
    [{ url: 'https://user:canary@hooks.test' }, 'url'],
    [{ url: 7 }, 'url'],
    [{ url, events: [] }, 'events'],
    [{ url, events: ['key.created'] }, 'events.0'],
    [{ url, events: ['key.deleted', 'key.deleted'] }, 'events.1'],
    [{ url, thresholds: [0] }, 'thresholds.0'],
    [{ url, thresholds: [50, 101] }, 'thresholds.1'],
    [{ url, thresholds: [50, 50] }, 'thresholds.1'],
    [{ url, thresholds: [12.5] }, 'thresholds.0'],
    [{ url, channel_capacity: 0 }, 'channel_capacity'],
    [{ url, timeout_ms: 0 }, 'timeout_ms'],
    [{ url, max_attempts: 0 }, 'max_attempts'],
    [{ url, retry_base_ms: -1 }, 'retry_base_ms'],
    [{ url, retry_base_ms: null }, 'retry_base_ms'],
    [{ url, signing_key_env: 'SECRET' }, 'signing_key_env'],
    [{ url, secret: 'canary' }, 'secret'],
    ['[]', undefined],
    ['', undefined],
  ])('PUT of %j is LM-1001 with the field, and changes nothing', async (body, param) => {
    const { call, store } = await admin()
    const refusal = await call('PUT', hooks, body)
    expect(refusal).toMatchObject({ code: 'LM-1001', param })
    expect(JSON.stringify(refusal)).not.toContain('canary')
    expect(await store.readWebhookSettings()).toBeUndefined()
  })

  test.each([
    [{}, 'url is required'],
    [{ url, events: 'key.deleted' }, 'events: must be an array'],
    [{ url, timeout_ms: '5' }, 'timeout_ms: must be a whole number from 1 to 2147483647'],
  ])('PUT of %j reports the rule that it breaks', async (body, message) => {
    const { call } = await admin()
    expect(await call('PUT', hooks, body)).toMatchObject({ message })
  })

  test('settings that cannot be stored are not applied', async () => {
    const { call, store } = await admin()
    store.trouble = 'refuse'
    await expect(call('PUT', hooks, { url })).rejects.toThrow(StoreFault)
    expect(await call('GET', hooks)).toMatchObject({ body: off })
  })
})

test('DELETE of the settings turns webhooks off, including those of the file', async () => {
  const { call } = await admin({ block: settings() })
  expect(await call('DELETE', hooks)).toEqual({ status: 204, body: null })
  expect(await call('GET', hooks)).toMatchObject({
    body: { enabled: false, source: 'database', updated_at: 1_764_000_000 },
  })
  expect(await call('DELETE', hooks)).toEqual({ status: 204, body: null })
})

describe('the signing key', () => {
  test('the signing key is stored and deleted, and never shown', async () => {
    const { call } = await admin({ block: settings() })
    expect(await call('PUT', signingKey, { secret: 'canary' })).toEqual({ status: 204, body: null })
    const stored = await call('GET', hooks)
    expect(stored).toMatchObject({ body: { signed: true, signing_key_stored: true } })
    expect(JSON.stringify(stored)).not.toContain('canary')
    expect(await call('DELETE', signingKey)).toEqual({ status: 204, body: null })
    expect(await call('GET', hooks)).toMatchObject({
      body: { signed: false, signing_key_stored: false },
    })
    expect(await call('DELETE', signingKey)).toEqual({ status: 204, body: null })
  })

  test('the signing key is kept when webhooks are turned off', async () => {
    const { call } = await admin({ block: settings() })
    await call('PUT', signingKey, { secret: 's' })
    await call('DELETE', hooks)
    expect(await call('PUT', hooks, { url })).toMatchObject({ body: { signed: true } })
  })

  test.each([
    [{}, 'secret'],
    [{ secret: '' }, 'secret'],
    [{ secret: 7 }, 'secret'],
    [{ secret: null }, 'secret'],
    [{ secret: 'x'.repeat(4097) }, 'secret'],
    ['{"secret":"\\ud800"}', 'secret'],
    [{ secret: 'canary', key: 'x' }, 'key'],
  ])('a signing key of %j is LM-1001 with the field', async (body, param) => {
    const { call, store } = await admin()
    const refusal = await call('PUT', signingKey, body)
    expect(refusal).toMatchObject({ code: 'LM-1001', param })
    expect(JSON.stringify(refusal)).not.toContain('canary')
    expect(await keys(store)).toEqual([])
  })
})

function keys(store: MemoryStore) {
  return store.readSealed('webhook-signing-key')
}
