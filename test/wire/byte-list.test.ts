import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteList } from '../../src/wire/byte-list.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

test('the bytes keep their order, whatever the sizes of the pieces', () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 8 }),
    fc.integer({ min: 1000, max: 9000 }).map((length) => new Uint8Array(length).fill(length)),
  )
  const step = fc.oneof(
    piece.map((push) => ({ push })),
    fc.integer({ min: 0, max: 10_000 }).map((most) => ({ most })),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const list = new ByteList()
      const [pushed, taken]: Uint8Array[][] = [[], []]
      for (const one of steps) {
        if ('push' in one) {
          list.push(one.push)
          pushed?.push(one.push)
        } else taken?.push(list.take(one.most))
        expect(list.length).toBe(length(pushed) - length(taken))
      }
      taken?.push(list.takeAll())
      // `toEqual` takes a second for as many bytes.
      expect(Buffer.concat(taken ?? []).equals(Buffer.concat(pushed ?? []))).toBe(true)
      expect(list.length).toBe(0)
    }),
    { numRuns: 500 },
  )
})

const length = (pieces: readonly Uint8Array[] = []) =>
  pieces.reduce((sum, piece) => sum + piece.length, 0)

test('a single piece is returned without a copy', () => {
  const list = new ByteList()
  const piece = bytes('piece')
  list.push(piece)
  expect(list.takeAll()).toBe(piece)
})

test('take returns whole pieces up to the limit, at least one', () => {
  const list = new ByteList()
  for (const size of [5000, 5000, 5000]) list.push(new Uint8Array(size))
  expect(list.take(1).length).toBe(5000)
  expect(list.take(10_000).length).toBe(10_000)
  expect(list.take(1).length).toBe(0)
})

test('one-byte pieces after the first sixteen share memory', () => {
  const list = new ByteList()
  for (let at = 0; at < 5000; at++) list.push(bytes('x'))
  const buffers = new Set<unknown>()
  while (list.length > 0) buffers.add(list.take(1).buffer)
  expect(buffers.size).toBeLessThan(16 + 4)
})
