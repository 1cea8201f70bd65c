import { expect, test } from 'vitest'
import { Slab } from '../../src/stream/slab.ts'

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

test('encoded bytes stay unchanged, however much follows', () => {
  const slab = new Slab()
  const texts = Array.from({ length: 3000 }, (_, index) => `żółć ${index} `.repeat(index % 90))
  const encoded = texts.map((text) => slab.encode(text))
  expect(encoded.map(textOf)).toEqual(texts)
})

test('consecutive short texts are adjacent', () => {
  const slab = new Slab()
  const first = slab.encode('one')
  const second = slab.encode('zwölf')
  expect(second.buffer).toBe(first.buffer)
  expect(second.byteOffset).toBe(first.byteOffset + first.length)
})

test('a host that detaches a buffer does not affect later texts', () => {
  const slab = new Slab()
  structuredClone(undefined, { transfer: [slab.encode('one').buffer] })
  expect(textOf(slab.encode('two'))).toBe('two')
})
