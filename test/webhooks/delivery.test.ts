import { describe, expect, test } from 'vitest'
import { version } from '../../src/core/version.ts'
import { timed } from '../support/chain.ts'
import { settled } from '../support/manual-clock.ts'
import { broken, json, LiveUpstream, silent, whole } from '../support/scripted-upstream.ts'
import { event, opened, settings, url } from './support.ts'

const canary = 'canary-of-the-signing-key'
const hour = 3_600_000

describe('a delivery', () => {
  test('a delivery is a POST of the event with amounts in US dollars', async () => {
    const { webhooks, receiver } = await opened({ block: settings() })
    webhooks.notify(event())
    await settled()
    expect(receiver.requests).toMatchObject([{ method: 'POST', url }])
    expect(receiver.body()).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      type: 'budget.threshold',
      scope: 'key',
      subject_id: 'k1',
      name: 'team a',
      budget_max: 10.000000001,
      budget_spent: 5.000000001,
      threshold: 50,
      timestamp: 1_764_000_000,
    })
  })

  test('a delivery has null for fields that do not apply', async () => {
    const { webhooks, receiver } = await opened({ block: settings() })
    webhooks.notify(event({ type: 'key.disabled', budgetMax: null, threshold: null }))
    await settled()
    expect(receiver.body()).toMatchObject({ budget_max: null, threshold: null })
  })

  test('a delivery has the id and the time of the event, and no signature without a key', async () => {
    const { webhooks, receiver } = await opened({ block: settings() })
    webhooks.notify(event())
    await settled()
    expect(receiver.requests[0]?.headers).toEqual({
      'content-type': 'application/json',
      'user-agent': `model-gateway/${version}`,
      'x-gateway-event-id': (receiver.body() as { id: string }).id,
      'x-gateway-timestamp': '1764000000',
    })
  })

  test('each event has its own id, the same in every attempt', async () => {
    const { webhooks, receiver, clock } = await opened({ block: settings({ max_attempts: 2 }) })
    receiver.next(whole('', { status: 500 }))
    webhooks.notify(event())
    webhooks.notify(event())
    await clock.advance(hour)
    const ids = receiver.requests.map(({ headers }) => headers['x-gateway-event-id'])
    expect(ids).toHaveLength(3)
    expect(ids[0]).toBe(ids[1])
    expect(ids[2]).not.toBe(ids[0])
    expect(receiver.text(0)).toBe(receiver.text(1))
  })

  test.each([200, 201, 202, 204, 299])('a delivery succeeds with status %i', async (status) => {
    const { webhooks, receiver, clock, counts } = await opened({ block: settings() })
    receiver.always(whole('', { status }))
    webhooks.notify(event())
    await clock.advance(hour)
    expect(receiver.requests).toHaveLength(1)
    expect(await counts()).toEqual({ sent: 1, dropped: 0, dead: 0 })
  })

  test('a delivery succeeds at the status, and a response that never ends blocks nothing', async () => {
    const { webhooks, receiver, counts } = await opened({ block: settings() })
    const endless = new LiveUpstream()
    receiver.next(endless.responder)
    webhooks.notify(event())
    webhooks.notify(event())
    await settled()
    expect(await counts()).toMatchObject({ sent: 2 })
    expect(endless.released).toBe('drain')
    expect(receiver.requests[0]?.queueLimit).toBe(64 * 1024)
  })

  test('a delivery leaves no timer behind', async () => {
    const { webhooks, clock } = await opened({ block: settings() })
    webhooks.notify(event())
    await settled()
    expect(clock.pending).toBe(0)
  })
})

describe('a failed attempt', () => {
  test.each([
    ['a redirect', whole('', { status: 307, headers: { location: 'https://elsewhere.test' } })],
    ['a refusal', json({ error: 'no' }, { status: 400 })],
    ['a fault of the receiver', whole('', { status: 500 })],
    ['a status below 200', whole('', { status: 199 })],
    ['a broken connection', broken()],
  ])('after %s a delivery is repeated, up to max_attempts', async (_, failure) => {
    const { webhooks, receiver, clock, counts } = await opened({
      block: settings({ max_attempts: 3 }),
    })
    receiver.always(failure)
    webhooks.notify(event())
    await clock.advance(hour)
    expect(receiver.requests.map((request) => request.url)).toEqual([url, url, url])
    expect(await counts()).toEqual({ sent: 0, dropped: 0, dead: 1 })
  })

  test('a call that cannot be made counts as a failed attempt', async () => {
    const { webhooks, receiver, clock, counts } = await opened({ block: settings() })
    receiver.always(() => {
      throw new TypeError('invalid url')
    })
    webhooks.notify(event())
    await clock.advance(hour)
    expect(await counts()).toMatchObject({ dead: 1 })
  })

  test('an attempt ends after timeout_ms and releases its connection', async () => {
    const { webhooks, receiver, clock, log } = await opened({
      block: settings({ max_attempts: 1, timeout_ms: 300 }),
    })
    receiver.always(silent())
    webhooks.notify(event())
    await clock.advance(299)
    expect(receiver.requests[0]).toMatchObject({ connectTimeout: 300, signal: { aborted: false } })
    await clock.advance(1)
    expect(receiver.requests[0]?.signal.aborted).toBe(true)
    expect(log.at(-1)?.fields).toMatchObject({ reason: 'no response in time' })
  })

  test.each([
    [0, [0, 250, 750, 1750, 3750]],
    [1, [0, 500, 1500, 3500, 7500]],
  ])('the pause after a failed attempt doubles, with jitter (random %d)', async (random, times) => {
    const { webhooks, receiver, clock } = await opened({ block: settings(), random })
    const calls: number[] = []
    receiver.always(timed(clock, calls, whole('', { status: 503 })))
    webhooks.notify(event())
    await clock.advance(hour)
    expect(calls).toEqual(times)
  })

  test('the pause is at most a minute, unless the first pause is longer', async () => {
    for (const [base, pause] of [
      [40_000, 60_000],
      [90_000, 90_000],
    ] as const) {
      const block = settings({ retry_base_ms: base, max_attempts: 6 })
      const { webhooks, receiver, clock } = await opened({ block, random: 1 })
      const calls: number[] = []
      receiver.always(timed(clock, calls, broken()))
      webhooks.notify(event())
      await clock.advance(hour)
      const last = calls.length - 1
      expect((calls[last] ?? 0) - (calls[last - 1] ?? 0)).toBe(pause)
    }
  })

  test('the last failed attempt logs the event and the reason, without address and key', async () => {
    const block = {
      ...settings({ url: 'https://hooks.test/canary-of-the-path?token=canary', max_attempts: 2 }),
      signing_key_env: 'SECRET',
    }
    const { webhooks, receiver, clock, log } = await opened({ block, env: { SECRET: canary } })
    receiver.always(whole('canary of the answer', { status: 500 }))
    webhooks.notify(event())
    await expect.poll(() => clock.advance(1000).then(() => log)).toHaveLength(1)
    expect(log).toEqual([
      {
        level: 'warn',
        message: 'a webhook event could not be delivered',
        fields: {
          type: 'budget.threshold',
          subject_id: 'k1',
          event_id: receiver.requests[0]?.headers['x-gateway-event-id'],
          reason: 'status 500',
        },
      },
    ])
    expect(JSON.stringify(log)).not.toContain('canary')
  })
})

test('events are delivered one at a time and in order, even during retries', async () => {
  const { webhooks, receiver, clock } = await opened({ block: settings() })
  receiver.next(whole('', { status: 500 }), broken())
  for (const threshold of [50, 80, 95]) webhooks.notify(event({ threshold }))
  await clock.advance(hour)
  const order = receiver.requests.map((_, index) => receiver.body(index))
  expect(order.map((body) => (body as { threshold: number }).threshold)).toEqual([
    50, 50, 50, 80, 95,
  ])
})

test('the latency of a delivery counts from the event, including waits and failed attempts', async () => {
  const { webhooks, receiver, clock, registry } = await opened({ block: settings() })
  receiver.next(whole('', { status: 500 }))
  webhooks.notify(event())
  webhooks.notify(event())
  await clock.advance(hour)
  const text = await registry.metrics()
  expect(text).toContain('gateway_webhook_delivery_seconds_count 2')
  expect(text).toContain('gateway_webhook_delivery_seconds_sum 0.5')
})
