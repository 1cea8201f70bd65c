import { expect, test, vi } from 'vitest'
import { systemClock } from '../../adapters/node/ports/clock.ts'

test('a timer fires once, after its delay', async () => {
  const start = systemClock.elapsed()
  await new Promise<void>((resolve) => {
    systemClock.schedule(20, resolve)
  })
  expect(systemClock.elapsed() - start).toBeGreaterThanOrEqual(19)
})

test('a cancelled timer does not fire', async () => {
  const fire = vi.fn<() => void>()
  systemClock.schedule(1, fire).cancel()
  await new Promise((resolve) => setTimeout(resolve, 10))
  expect(fire).not.toHaveBeenCalled()
})

test('a delay longer than Node can time does not fire at once', async () => {
  const fire = vi.fn<() => void>()
  const timer = systemClock.schedule(2 ** 31, fire)
  await new Promise((resolve) => setTimeout(resolve, 10))
  timer.cancel()
  expect(fire).not.toHaveBeenCalled()
})

test('the wall clock tells milliseconds since the epoch', () => {
  expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(100)
})
