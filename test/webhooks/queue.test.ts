import { describe, expect, test } from 'vitest'
import { settled } from '../support/manual-clock.ts'
import { broken, silent, whole } from '../support/scripted-upstream.ts'
import { event, opened, settings } from './support.ts'

const hour = 3_600_000

describe('a flood', () => {
  test('drops what passes the capacity and the one under way, and counts it', async () => {
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

  test('that fits is delivered whole, the oldest first', async () => {
    const { webhooks, receiver, counts } = await opened({
      block: settings({ channel_capacity: 5000 }),
    })
    for (let round = 0; round < 5000; round++) webhooks.notify(event({ timestamp: round }))
    await expect.poll(counts, { timeout: 10_000 }).toMatchObject({ sent: 5000, dropped: 0 })
    const times = receiver.requests.map(({ headers }) => Number(headers['x-gateway-timestamp']))
    expect(times).toEqual(Array.from({ length: 5000 }, (_, index) => index))
  })

  test('is told of again once the queue has run empty', async () => {
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

  test('taken in costs the caller next to nothing', async () => {
    const { webhooks, receiver } = await opened({ block: settings({ channel_capacity: 100_000 }) })
    receiver.always(silent())
    const started = performance.now()
    for (let round = 0; round < 100_000; round++) webhooks.notify(event())
    expect(performance.now() - started).toBeLessThan(2000)
    webhooks.close()
  })
})

describe('a new capacity', () => {
  test('holds from now on, and what was accepted before is still delivered', async () => {
    const { webhooks, receiver, clock, counts } = await opened({
      block: settings({ channel_capacity: 3 }),
    })
    receiver.next(broken())
    for (let round = 0; round < 4; round++) webhooks.notify(event({ timestamp: round }))
    await settled()
    await webhooks.put(settings({ channel_capacity: 1 }))
    for (let round = 10; round < 15; round++) webhooks.notify(event({ timestamp: round }))
    await clock.advance(hour)
    const times = receiver.requests.map(({ headers }) => headers['x-gateway-timestamp'])
    expect(times.toSorted()).toEqual(['0', '0', '1', '10', '11', '2', '3'])
    expect(await counts()).toEqual({ sent: 6, dropped: 3, dead: 0 })
  })

  test('leaves what was accepted before to the settings that follow', async () => {
    const { webhooks, receiver, clock } = await opened({ block: settings() })
    receiver.next(broken())
    webhooks.notify(event())
    webhooks.notify(event())
    await settled()
    await webhooks.put(settings({ channel_capacity: 1 }))
    await webhooks.put(settings({ channel_capacity: 1, url: 'https://new.test' }))
    await clock.advance(hour)
    expect(receiver.requests.map(({ url }) => new URL(url).host)).toEqual([
      'hooks.test',
      'hooks.test',
      'new.test',
    ])
    await webhooks.disable()
    webhooks.notify(event())
    await clock.advance(hour)
    expect(receiver.requests).toHaveLength(3)
  })
})

test('new settings leave the event alone whose turn has come', async () => {
  const { webhooks, receiver, clock } = await opened({ block: settings() })
  receiver.always(broken())
  webhooks.notify(event())
  webhooks.notify(event())
  await settled()
  await webhooks.put(settings({ url: 'https://new.test', max_attempts: 1 }))
  await clock.advance(hour)
  expect(receiver.requests.map(({ url }) => new URL(url).host)).toEqual([
    ...Array.from({ length: 5 }, () => 'hooks.test'),
    'new.test',
  ])
})

describe('turned off', () => {
  test('nothing more is sent: what waits and what is under way is dropped', async () => {
    const { webhooks, receiver, clock, counts } = await opened({ block: settings() })
    receiver.always(silent())
    for (let round = 0; round < 3; round++) webhooks.notify(event())
    await settled()
    await webhooks.disable()
    expect(receiver.requests[0]?.signal.aborted).toBe(true)
    webhooks.notify(event())
    await clock.advance(hour)
    expect(receiver.requests).toHaveLength(1)
    expect(await counts()).toEqual({ sent: 0, dropped: 3, dead: 0 })
    expect(clock.pending).toBe(0)
  })

  test('senders of an earlier capacity stop too', async () => {
    const { webhooks, receiver, clock, counts } = await opened({ block: settings() })
    receiver.next(broken())
    webhooks.notify(event())
    await settled()
    await webhooks.put(settings({ channel_capacity: 2 }))
    await webhooks.disable()
    await clock.advance(hour)
    expect(receiver.requests).toHaveLength(1)
    expect(await counts()).toEqual({ sent: 0, dropped: 1, dead: 0 })
  })

  test('and on again, events are delivered', async () => {
    const { webhooks, receiver, counts } = await opened({ block: settings() })
    await webhooks.disable()
    await webhooks.put(settings())
    webhooks.notify(event())
    await settled()
    expect(receiver.requests).toHaveLength(1)
    expect(await counts()).toMatchObject({ sent: 1 })
  })
})

describe('closing', () => {
  test('ends a pause, an attempt and a queue at once', async () => {
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

  test('between an event and its first attempt, no call is made', async () => {
    const { webhooks, receiver, counts } = await opened({ block: settings() })
    webhooks.notify(event())
    webhooks.close()
    webhooks.notify(event())
    await settled()
    expect(receiver.requests).toEqual([])
    expect(await counts()).toEqual({ sent: 0, dropped: 1, dead: 0 })
  })

  test('lets what is told afterwards pass', async () => {
    const { webhooks, receiver } = await opened({ block: settings() })
    receiver.always(whole(''))
    webhooks.close()
    webhooks.close()
    webhooks.notify(event())
    await settled()
    expect(receiver.requests).toEqual([])
  })
})
