import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { withProgress } from '../../adapters/node/output/progress.ts'
import { deferred } from './support/servers.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function recorder(isTTY: boolean) {
  const written: string[] = []
  const write = (text: string | Uint8Array) => written.push(String(text)) > 0
  return { terminal: { isTTY, write }, written }
}

test('a line says what runs from the first second on, and disappears at the end', async () => {
  const { terminal, written } = recorder(true)
  const { promise, resolve } = deferred()
  const ended = withProgress('copying the database', promise, terminal)
  vi.advanceTimersByTime(999)
  expect(written).toEqual([])
  vi.advanceTimersByTime(1_001)
  expect(written).toEqual([
    '\r\u001B[2Kcopying the database … 1 s',
    '\r\u001B[2Kcopying the database … 2 s',
  ])
  resolve()
  await ended
  expect(written.at(-1)).toBe('\r\u001B[2K')
  expect(vi.getTimerCount()).toBe(0)
})

test('work that fails clears the line, too', async () => {
  const { terminal, written } = recorder(true)
  const { promise, resolve } = deferred()
  const failed = promise.then(() => {
    throw new Error('disk full')
  })
  const ended = withProgress('copying the database', failed, terminal)
  vi.advanceTimersByTime(1_000)
  resolve()
  await expect(ended).rejects.toThrow('disk full')
  expect(written.at(-1)).toBe('\r\u001B[2K')
})

test('nothing is written where standard error is no terminal', async () => {
  const { terminal, written } = recorder(false)
  const { promise, resolve } = deferred()
  const ended = withProgress('copying the database', promise, terminal)
  vi.advanceTimersByTime(5_000)
  resolve()
  await ended
  expect(written).toEqual([])
})
