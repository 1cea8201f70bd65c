import { describe, expect, test } from 'vitest'
import { auditEntry } from '../support/audit.ts'
import { settled } from '../support/manual-clock.ts'
import { broken, silent, whole } from '../support/scripted-upstream.ts'
import { event, opened, settings } from './support.ts'

const hour = 3_600_000

describe('a flood', () => {
  test('events beyond the capacity are dropped and counted', async () => {
    const { webhooks, receiver, log, counts } = await opened({
      block: settings({ channel_capacity: 10 }),
    })
    receiver.always(silent())
    for (let round = 0; round < 100; round++) webhooks.notify(event())
    await settled()
    expect(receiver.requests).toHaveLength(1)
    expect(await counts()).toEqual({ sent: 0, dropped: 89, dead: 0 })
    expect(log).toMatchObject([
      { message: 'webhook deliveries are unsigned: there is no signing key' },
      { level: 'warn', message: 'the webhook queue is full: events are dropped' },
    ])
  })

  test('events within the capacity are all delivered, the oldest first', async () => {
    const { webhooks, receiver, counts } = await opened({
      block: settings({ channel_capacity: 5000 }),
    })
    for (let round = 0; round < 5000; round++) webhooks.notify(event({ timestamp: round }))
    await settled()
    expect(await counts()).toMatchObject({ sent: 5000, dropped: 0 })
    const times = receiver.requests.map(({ headers }) => Number(headers['x-gateway-timestamp']))
    expect(times).toEqual(Array.from({ length: 5000 }, (_, index) => index))
  })

  test('a full queue is logged again after it has been empty', async () => {
    const { webhooks, log, counts } = await opened({ block: settings({ channel_capacity: 1 }) })
    const full = () => log.filter(({ message }) => message.includes('full'))
    for (let round = 0; round < 4; round++) webhooks.notify(event())
    await settled()
    expect(await counts()).toMatchObject({ sent: 2, dropped: 2 })
    expect(full()).toHaveLength(1)
    for (let round = 0; round < 4; round++) webhooks.notify(event())
    await settled()
    expect(full()).toHaveLength(2)
  })

  test('accepting many events takes almost no time', async () => {
    const { webhooks, receiver } = await opened({ block: settings({ channel_capacity: 100_000 }) })
    receiver.always(silent())
    const started = performance.now()
    for (let round = 0; round < 100_000; round++) webhooks.notify(event())
    expect(performance.now() - started).toBeLessThan(2000)
    webhooks.close()
  })
})

describe('a new capacity', () => {
  test('a new capacity applies at once, and accepted events are still delivered', async () => {
    const { webhooks, receiver, clock, counts } = await opened({
      block: settings({ channel_capacity: 3 }),
    })
    receiver.next(broken())
    for (let round = 0; round < 4; round++) webhooks.notify(event({ timestamp: round }))
    await settled()
    await webhooks.put(settings({ channel_capacity: 1 }), auditEntry)
    for (let round = 10; round < 15; round++) webhooks.notify(event({ timestamp: round }))
    await clock.advance(hour)
    const times = receiver.requests.map(({ headers }) => headers['x-gateway-timestamp'])
    expect(times.toSorted()).toEqual(['0', '0', '1', '10', '11', '2', '3'])
    expect(await counts()).toEqual({ sent: 6, dropped: 3, dead: 0 })
  })

  test('events accepted under an earlier capacity use later settings', async () => {
    const { webhooks, receiver, clock } = await opened({ block: settings() })
    receiver.next(broken())
    webhooks.notify(event())
    webhooks.notify(event())
    await settled()
    await webhooks.put(settings({ channel_capacity: 1 }), auditEntry)
    await webhooks.put(settings({ channel_capacity: 1, url: 'https://new.test' }), auditEntry)
    await clock.advance(hour)
    expect(receiver.requests.map(({ url }) => new URL(url).host)).toEqual([
      'hooks.test',
      'hooks.test',
      'new.test',
    ])
    await webhooks.disable(auditEntry)
    webhooks.notify(event())
    await clock.advance(hour)
    expect(receiver.requests).toHaveLength(3)
  })
})

test('new settings do not affect the event that is being delivered', async () => {
  const { webhooks, receiver, clock } = await opened({ block: settings() })
  receiver.always(broken())
  webhooks.notify(event())
  webhooks.notify(event())
  await settled()
  await webhooks.put(settings({ url: 'https://new.test', max_attempts: 1 }), auditEntry)
  await clock.advance(hour)
  expect(receiver.requests.map(({ url }) => new URL(url).host)).toEqual([
    ...Array.from({ length: 5 }, () => 'hooks.test'),
    'new.test',
  ])
})

describe('turned off', () => {
  test('turning webhooks off drops waiting events and the one being delivered', async () => {
    const { webhooks, receiver, clock, counts } = await opened({ block: settings() })
    receiver.always(silent())
    for (let round = 0; round < 3; round++) webhooks.notify(event())
    await settled()
    await webhooks.disable(auditEntry)
    expect(receiver.requests[0]?.signal.aborted).toBe(true)
    webhooks.notify(event())
    await clock.advance(hour)
    expect(receiver.requests).toHaveLength(1)
    expect(await counts()).toEqual({ sent: 0, dropped: 3, dead: 0 })
    expect(clock.pending).toBe(0)
  })

  test('turning webhooks off also stops senders of an earlier capacity', async () => {
    const { webhooks, receiver, clock, counts } = await opened({ block: settings() })
    receiver.next(broken())
    webhooks.notify(event())
    await settled()
    await webhooks.put(settings({ channel_capacity: 2 }), auditEntry)
    await webhooks.disable(auditEntry)
    await clock.advance(hour)
    expect(receiver.requests).toHaveLength(1)
    expect(await counts()).toEqual({ sent: 0, dropped: 1, dead: 0 })
  })

  test('events are delivered after webhooks are turned off and on again', async () => {
    const { webhooks, receiver, counts } = await opened({ block: settings() })
    await webhooks.disable(auditEntry)
    await webhooks.put(settings(), auditEntry)
    webhooks.notify(event())
    await settled()
    expect(receiver.requests).toHaveLength(1)
    expect(await counts()).toMatchObject({ sent: 1 })
  })
})

describe('closing', () => {
  test('closing ends a pause, an attempt and a queue at once', async () => {
    for (const responder of [broken(), silent()]) {
      const { webhooks, receiver, clock } = await opened({ block: settings() })
      receiver.always(responder)
      webhooks.notify(event())
      webhooks.notify(event())
      await settled()
      webhooks.close()
      await clock.advance(hour)
      expect(receiver.requests).toHaveLength(1)
      expect(clock.pending).toBe(0)
    }
  })

  test('closing between an event and its first attempt makes no call', async () => {
    const { webhooks, receiver, counts } = await opened({ block: settings() })
    webhooks.notify(event())
    webhooks.close()
    webhooks.notify(event())
    await settled()
    expect(receiver.requests).toEqual([])
    expect(await counts()).toEqual({ sent: 0, dropped: 1, dead: 0 })
  })

  test('events after closing are ignored', async () => {
    const { webhooks, receiver } = await opened({ block: settings() })
    receiver.always(whole(''))
    webhooks.close()
    webhooks.close()
    webhooks.notify(event())
    await settled()
    expect(receiver.requests).toEqual([])
  })
})
