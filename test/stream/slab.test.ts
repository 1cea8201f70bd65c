import { expect, test } from 'vitest'
import { Slab } from '../../src/stream/slab.ts'

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

test('what was encoded stays as it was, however much follows', () => {
  const slab = new Slab()
  const texts = Array.from({ length: 3000 }, (_, index) => `żółć ${index} `.repeat(index % 90))
  const encoded = texts.map((text) => slab.encode(text))
  expect(encoded.map(textOf)).toEqual(texts)
})

test('short texts in a row stand side by side', () => {
  const slab = new Slab()
  const first = slab.encode('one')
  const second = slab.encode('zwölf')
  expect(second.buffer).toBe(first.buffer)
  expect(second.byteOffset).toBe(first.byteOffset + first.length)
})

test('a host that takes the memory away with what it was handed loses nothing that follows', () => {
  const slab = new Slab()
  structuredClone(undefined, { transfer: [slab.encode('one').buffer] })
  expect(textOf(slab.encode('two'))).toBe('two')
})
