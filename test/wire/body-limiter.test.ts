import { describe, expect, test } from 'vitest'
import { BodyLimiter, type BodySlot, largeBodyBytes } from '../../src/wire/body-limiter.ts'
import { Buffers } from '../../src/wire/buffers.ts'
import { isPending } from '../support/pending.ts'

const MB = 1024 * 1024

function makeLimiter({ limit = 100 * MB, mostLarge = 2 } = {}) {
  const settings = { limit, mostLarge }
  const buffers = new Buffers(() => settings.limit)
  const intake = new BodyLimiter(buffers, () => settings.mostLarge)
  const open = () => intake.openSlot(buffers.openAccount(() => {}))
  /** A place of a body that has been let in. */
  const inside = (bytes: number): BodySlot => {
    const place = open()
    expect(place.reserve(bytes)).toBeUndefined()
    return place
  }
  /** A place, and the wait of its body. */
  const waiting = (bytes: number) => {
    const place = open()
    const entered = place.reserve(bytes)
    if (!entered) throw new Error('it did not have to wait')
    return { place, entered }
  }
  return { settings, buffers, intake, open, inside, waiting }
}

describe('large bodies', () => {
  test('large bodies are admitted up to the limit, then in the order of arrival', async () => {
    const { inside, waiting } = makeLimiter()
    const first = inside(2 * MB)
    const second = inside(2 * MB)
    const [third, fourth] = [waiting(2 * MB), waiting(2 * MB)]
    first.release()
    await third.entered
    expect(await isPending(fourth.entered)).toBe(true)
    second.release()
    await fourth.entered
  })

  test('a body of exactly one mebibyte is small', () => {
    const { inside } = makeLimiter({ mostLarge: 1 })
    inside(2 * MB)
    expect(inside(largeBodyBytes).isLarge).toBe(false)
  })

  test('releasing a slot twice releases it once', async () => {
    const { inside, waiting } = makeLimiter({ mostLarge: 1 })
    const first = inside(2 * MB)
    const [second, third] = [waiting(2 * MB), waiting(2 * MB)]
    first.release()
    first.release()
    await second.entered
    expect(await isPending(third.entered)).toBe(true)
  })

  test('a waiting body whose slot is released is skipped', async () => {
    const { inside, waiting, buffers } = makeLimiter({ mostLarge: 1 })
    const first = inside(2 * MB)
    const [second, third] = [waiting(2 * MB), waiting(3 * MB)]
    second.place.release()
    first.release()
    await third.entered
    expect(buffers.bytes).toBe(3 * MB)
  })

  test('waiting bodies are admitted when the limit is raised', async () => {
    const { settings, intake, inside, waiting } = makeLimiter({ mostLarge: 1 })
    inside(2 * MB)
    const second = waiting(2 * MB)
    settings.mostLarge = 2
    intake.admitWaiting()
    await expect(second.entered).resolves.toBeUndefined()
  })

  test('a body that turns out to be large waits for a slot like others', async () => {
    const { inside, buffers } = makeLimiter({ mostLarge: 1 })
    const large = inside(2 * MB)
    const grown = inside(largeBodyBytes)
    const entered = grown.reserve(10 * MB)
    expect(await isPending(entered ?? Promise.resolve())).toBe(true)
    large.release()
    await entered
    expect(grown.isLarge).toBe(true)
    grown.shrinkTo(3 * MB)
    expect(buffers.bytes).toBe(3 * MB)
    grown.release()
    expect(buffers.bytes).toBe(0)
  })
})

describe('waiting for memory', () => {
  test('small bodies may overtake waiting large ones', async () => {
    const { inside, waiting, buffers } = makeLimiter({ limit: 10 * MB, mostLarge: 8 })
    const first = inside(8 * MB)
    const large = waiting(5 * MB)
    inside(MB)
    const small = inside(MB)
    const next = waiting(MB)
    small.release()
    await next.entered
    expect(await isPending(large.entered)).toBe(true)
    first.release()
    await large.entered
    expect(buffers.bytes).toBe(7 * MB)
  })

  test('a body is admitted when a slow reader has left', async () => {
    const { inside, waiting, buffers } = makeLimiter({ limit: 10 * MB })
    inside(1 * MB)
    const reader = buffers.openAccount(() => {})
    reader.addUnread(9 * MB)
    const small = waiting(MB / 2)
    reader.close()
    await expect(small.entered).resolves.toBeUndefined()
  })

  test('a body that is the only one of its size class never waits for memory', () => {
    const { inside, buffers } = makeLimiter({ limit: 10 })
    buffers.openAccount(() => {}).addBody(100)
    inside(1000)
    inside(5 * MB)
    expect(buffers.bytes).toBe(100 + 1000 + 5 * MB)
  })
})

describe('parsing', () => {
  test('large bodies are parsed one at a time, the next when the first is parsed or released', async () => {
    const { inside } = makeLimiter({ mostLarge: 8 })
    const [first, second, third] = [inside(2 * MB), inside(2 * MB), inside(2 * MB)]
    expect(first.startParsing()).toBeUndefined()
    const [next, last] = [second.startParsing(), third.startParsing()]
    first.endParsing()
    await next
    expect(await isPending(last ?? Promise.resolve())).toBe(true)
    second.release()
    await last
  })

  test('small bodies are parsed at once', () => {
    const { inside } = makeLimiter()
    inside(2 * MB).startParsing()
    expect(inside(MB).startParsing()).toBeUndefined()
  })
})
