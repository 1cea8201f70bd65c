import * as fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { toFailure, type UpstreamFailure } from '../../src/core/failure.ts'
import { CancelScope } from '../../src/wire/cancel-scope.ts'
import { ManualClock, settled } from '../support/manual-clock.ts'
import { isPending } from '../support/pending.ts'

const gone: UpstreamFailure = { kind: 'client-cancelled' }
const late: UpstreamFailure = { kind: 'timeout', limit: 'total' }
const silent: UpstreamFailure = { kind: 'timeout', limit: 'first-token' }

describe('limits', () => {
  test('the nearest limit ends the scope, in whatever order the limits were set', async () => {
    for (const order of [
      [10, 20],
      [20, 10],
    ] as const) {
      const clock = new ManualClock()
      const scope = new CancelScope(clock)
      for (const delay of order) scope.endAfter(delay, delay === 10 ? silent : late)
      await clock.advance(9)
      expect(scope.ended).toBeUndefined()
      await clock.advance(1)
      expect(scope.ended).toEqual(silent)
      expect(clock.pending).toBe(0)
    }
  })

  test('a cancelled limit does not end the scope, and the others still do', async () => {
    const clock = new ManualClock()
    const scope = new CancelScope(clock)
    const callOff = scope.endAfter(10, silent)
    scope.endAfter(20, late)
    callOff()
    expect(scope.remaining()).toBe(20)
    await clock.advance(19)
    expect(scope.ended).toBeUndefined()
    await clock.advance(1)
    expect(scope.ended).toEqual(late)
  })

  test.each([0.9, 0, -5])('a limit of %f ms ends the scope at once', (delay) => {
    const scope = new CancelScope(new ManualClock())
    scope.endAfter(delay, late)
    expect(scope.ended).toEqual(late)
  })

  test('a closed scope reaches no limit and leaves no timer', async () => {
    const clock = new ManualClock()
    const scope = new CancelScope(clock)
    scope.endAfter(10, late)
    scope.close()
    expect(clock.pending).toBe(0)
    await clock.advance(100)
    expect(scope.ended).toBeUndefined()
  })

  test('of any limits, set and cancelled at any time, the first due one ends the scope in time', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('limit' as const), delay: fc.integer({ min: 1, max: 40 }) }),
      fc.record({ do: fc.constant('call-off' as const), which: fc.nat(9) }),
      fc.record({ do: fc.constant('pass' as const), time: fc.nat(15) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        const clock = new ManualClock()
        const scope = new CancelScope(clock)
        const limits: { at: number; callOff: () => void }[] = []
        let endedAt: number | undefined
        scope.onEnd(() => {
          endedAt = clock.elapsed()
        })
        for (const next of steps) {
          switch (next.do) {
            case 'limit':
              limits.push({
                at: clock.elapsed() + next.delay,
                callOff: scope.endAfter(next.delay, late),
              })
              break
            case 'call-off':
              limits.splice(next.which, 1)[0]?.callOff()
              break
            case 'pass': {
              const due = Math.min(...limits.map(({ at }) => at))
              await clock.advance(next.time)
              expect(endedAt).toBe(due <= clock.elapsed() ? due : undefined)
              if (endedAt !== undefined) return
            }
          }
          expect(scope.remaining()).toBe(Math.min(...limits.map(({ at }) => at)) - clock.elapsed())
          expect(clock.pending).toBeLessThanOrEqual(1)
        }
        scope.close()
        expect(clock.pending).toBe(0)
      }),
      { numRuns: 100 },
    )
  })
})

describe('a scope inside another', () => {
  test('an inner scope ends with the outer one, for the same reason', () => {
    const outer = new CancelScope(new ManualClock())
    const inner = outer.open().open()
    outer.end(gone)
    expect(inner.ended).toEqual(gone)
  })

  test('an inner scope may end sooner without ending the outer one', () => {
    const outer = new CancelScope(new ManualClock())
    const inner = outer.open()
    inner.end(late)
    expect(outer.ended).toBeUndefined()
    outer.end(gone)
    expect(inner.ended).toEqual(late)
  })

  test('a closed inner scope is not notified of the end', () => {
    const outer = new CancelScope(new ManualClock())
    const inner = outer.open()
    inner.close()
    outer.end(gone)
    expect(inner.ended).toBeUndefined()
  })

  test('a scope opened in an ended one has ended', () => {
    const outer = new CancelScope(new ManualClock())
    outer.end(gone)
    expect(outer.open().ended).toEqual(gone)
  })

  test('an inner scope has no more time left than the outer one', () => {
    const outer = new CancelScope(new ManualClock())
    outer.endAfter(10, late)
    const inner = outer.open()
    inner.endAfter(30, silent)
    expect(inner.remaining()).toBe(10)
  })
})

describe('the end', () => {
  test('every listener is called once, also one added after the end', () => {
    const scope = new CancelScope(new ManualClock())
    const before = vi.fn<(failure: UpstreamFailure) => void>()
    const stopped = vi.fn<(failure: UpstreamFailure) => void>()
    const after = vi.fn<(failure: UpstreamFailure) => void>()
    scope.onEnd(before)
    scope.onEnd(stopped)()
    scope.end(gone)
    scope.end(late)
    scope.onEnd(after)
    expect(before).toHaveBeenCalledExactlyOnceWith(gone)
    expect(after).toHaveBeenCalledExactlyOnceWith(gone)
    expect(stopped).not.toHaveBeenCalled()
  })

  test('the end resolves a sleep and frees its timer', async () => {
    const clock = new ManualClock()
    const scope = new CancelScope(clock)
    const sleep = scope.sleep(1000)
    expect(await isPending(sleep)).toBe(true)
    scope.end(gone)
    await sleep
    expect(clock.pending).toBe(0)
  })

  test('the end rejects a race, and the later outcome of its work is ignored', async () => {
    const scope = new CancelScope(new ManualClock())
    const race = scope.race(
      new Promise((_, reject) => setImmediate(() => reject(new Error('late')))),
    )
    scope.end(late)
    expect(await race.catch(toFailure)).toEqual(late)
    await settled()
  })

  test('without an end, a race settles like its work', async () => {
    const scope = new CancelScope(new ManualClock())
    expect(await scope.race(Promise.resolve(7))).toBe(7)
    await expect(scope.race(Promise.reject(new RangeError('x')))).rejects.toThrow(RangeError)
  })
})
