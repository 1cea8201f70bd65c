import { describe, expect, test } from 'vitest'
import { accountEventTypes } from '../../src/core/account-event.ts'
import { StoreFault } from '../../src/store/index.ts'
import { auditEntry } from '../support/audit.ts'
import { settled } from '../support/manual-clock.ts'
import { event, opened, settings, url } from './support.ts'

const other = settings({ url: 'https://stored.test', thresholds: [10] })

describe('the settings in force', () => {
  test('there are no settings without a stored row and without a table in the file', async () => {
    const { webhooks } = await opened()
    expect(webhooks.state).toEqual({
      enabled: false,
      source: 'none',
      settings: null,
      updatedAt: null,
      isSigned: false,
      hasStoredKey: false,
    })
  })

  test('the settings of the file apply, without the name of the variable', async () => {
    const block = { ...settings(), signing_key_env: 'SECRET' }
    const { webhooks } = await opened({ block, env: { SECRET: 's' } })
    expect(webhooks.state).toEqual({
      enabled: true,
      source: 'config',
      settings: settings(),
      updatedAt: null,
      isSigned: true,
      hasStoredKey: false,
    })
  })

  test('stored settings apply at once and after a restart', async () => {
    const { webhooks, store, clock } = await opened({ block: settings() })
    await webhooks.put(other, auditEntry)
    const state = {
      enabled: true,
      source: 'database',
      settings: other,
      updatedAt: clock.now() / 1000,
    }
    expect(webhooks.state).toMatchObject(state)
    expect((await opened({ block: settings(), store })).webhooks.state).toMatchObject(state)
  })

  test('webhooks that were turned off stay off, even if the file configures them', async () => {
    const { webhooks, store, receiver } = await opened({ block: settings() })
    await webhooks.disable(auditEntry)
    const state = { enabled: false, source: 'database', settings: settings() }
    expect(webhooks.state).toMatchObject(state)
    webhooks.reload(settings({ url: 'https://new.test' }))
    expect(webhooks.state).toMatchObject(state)
    webhooks.notify(event())
    await settled()
    expect(receiver.requests).toEqual([])
    expect((await opened({ block: settings(), store })).webhooks.state).toMatchObject(state)
  })

  test('webhooks can be turned off without any settings', async () => {
    const { webhooks, store } = await opened()
    await webhooks.disable(auditEntry)
    expect(webhooks.state).toMatchObject({ enabled: false, source: 'database', settings: null })
    expect((await opened({ store })).log).toEqual([])
  })

  test('the former settings stay in force when new ones cannot be stored', async () => {
    const { webhooks, store } = await opened({ block: settings() })
    store.trouble = 'refuse'
    await expect(webhooks.put(other, auditEntry)).rejects.toThrow(StoreFault)
    await expect(webhooks.disable(auditEntry)).rejects.toThrow(StoreFault)
    webhooks.reload(settings())
    expect(webhooks.state).toMatchObject({ enabled: true, source: 'config', settings: settings() })
  })

  test.each(['', '{', 'null', '{"url":"ftp://x"}'])(
    'stored settings of %j are ignored with an error in the log',
    async (text) => {
      const { store } = await opened()
      await store.putWebhookSettings({ enabled: true, settings: text, updatedAt: 1 })
      const { webhooks, log } = await opened({ block: settings(), store })
      expect(webhooks.state).toMatchObject({ enabled: false, source: 'database', settings: null })
      expect(log).toMatchObject([{ level: 'error' }])
    },
  )
})

describe('a reload', () => {
  test('a reload applies the table of the file if that is the source', async () => {
    const { webhooks, receiver } = await opened({ block: settings() })
    webhooks.reload(settings({ url: 'https://new.test' }))
    webhooks.notify(event())
    await settled()
    expect(receiver.requests.map((request) => request.url)).toEqual(['https://new.test'])
  })

  test('a reload without the table turns webhooks off, and one with it on again', async () => {
    const { webhooks, receiver } = await opened({ block: settings() })
    webhooks.reload(undefined)
    expect(webhooks.state).toMatchObject({ enabled: false, source: 'none' })
    expect(webhooks.percentages()).toEqual([])
    webhooks.notify(event())
    webhooks.reload(settings())
    webhooks.notify(event())
    await settled()
    expect(receiver.requests).toHaveLength(1)
  })

  test('a reload does not change stored settings', async () => {
    const { webhooks, receiver } = await opened({ block: settings() })
    await webhooks.put(other, auditEntry)
    webhooks.reload(settings({ url: 'https://new.test' }))
    webhooks.notify(event())
    await settled()
    expect(receiver.requests.map((request) => request.url)).toEqual([other.url])
  })

  test('a reload applies a new name of the variable', async () => {
    const { webhooks } = await opened({ block: settings(), env: { SECRET: 's' } })
    webhooks.reload({ ...settings(), signing_key_env: 'SECRET' })
    expect(webhooks.state.isSigned).toBe(true)
  })
})

test.each(accountEventTypes)(
  'an event of type %s is sent only when it is enabled',
  async (type) => {
    const { webhooks, receiver } = await opened({ block: settings({ events: [type] }) })
    for (const each of accountEventTypes) webhooks.notify(event({ type: each }))
    await settled()
    expect(receiver.requests.map((_, index) => receiver.body(index))).toMatchObject([{ type }])
  },
)

test('the budget percentages are those in force, and none while webhooks are off', async () => {
  const { webhooks } = await opened()
  expect(webhooks.percentages()).toEqual([])
  await webhooks.put(settings({ thresholds: [1, 99] }), auditEntry)
  expect(webhooks.percentages()).toEqual([1, 99])
  await webhooks.disable(auditEntry)
  expect(webhooks.percentages()).toEqual([])
})

test('the series exist from the first time that webhooks are enabled', async () => {
  const { webhooks, registry } = await opened()
  const names = () => registry.getMetricsAsArray().map(({ name }) => name)
  webhooks.notify(event())
  await webhooks.disable(auditEntry)
  expect(names()).toEqual([])
  await webhooks.put(settings(), auditEntry)
  const all = [
    'gateway_webhook_sent_total',
    'gateway_webhook_dropped_total',
    'gateway_webhook_dead_total',
    'gateway_webhook_delivery_seconds',
  ]
  expect(names()).toEqual(all)
  await webhooks.disable(auditEntry)
  await webhooks.put(settings({ url, channel_capacity: 3 }), auditEntry)
  expect(names()).toEqual(all)
})

test.each([
  [undefined, []],
  [settings(), ['webhook deliveries are unsigned: there is no signing key']],
  [{ ...settings(), signing_key_env: 'SECRET' }, []],
])('unsigned deliveries are logged as a warning at boot (%#)', async (block, warnings) => {
  const { log } = await opened({ ...(block && { block }), env: { SECRET: 's' } })
  expect(log.map(({ message }) => message)).toEqual(warnings)
})
