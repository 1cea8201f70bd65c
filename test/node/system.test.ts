import { expect, test, vi } from 'vitest'
import { nodeFingerprint, systemClock } from '../../adapters/node/process/system.ts'

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

test('`now` returns milliseconds since the epoch', () => {
  expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(100)
})

test('a fingerprint differs for each text and has a fixed length', () => {
  const fingerprint = nodeFingerprint()
  const texts = Array.from({ length: 1_000 }, (_, at) => `sk-gw-${at}`)
  const prints = texts.map(fingerprint)
  expect(prints).toEqual(texts.map(fingerprint))
  expect(new Set(prints).size).toBe(texts.length)
  expect(new Set(prints.map(({ length }) => length))).toEqual(new Set([44]))
})

test('each fingerprint function has a key of its own', () => {
  expect(nodeFingerprint()('sk-gw-1')).not.toBe(nodeFingerprint()('sk-gw-1'))
})
