import { expect, test } from 'vitest'
import { Slab } from '../../src/stream/slab.ts'

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

test('encoded texts stay unchanged while others follow', () => {
  const slab = new Slab()
  const texts = Array.from({ length: 3000 }, (_, index) => `żółć ${index} `.repeat(index % 90))
  const encoded = texts.map((text) => slab.encode(text))
  expect(encoded.map(textOf)).toEqual(texts)
})

test('consecutive short texts are adjacent in memory', () => {
  const slab = new Slab()
  const first = slab.encode('one')
  const second = slab.encode('zwölf')
  expect(second.buffer).toBe(first.buffer)
  expect(second.byteOffset).toBe(first.byteOffset + first.length)
})

test('texts that follow are intact after a host transferred the memory of an earlier one', () => {
  const slab = new Slab()
  structuredClone(undefined, { transfer: [slab.encode('one').buffer] })
  expect(textOf(slab.encode('two'))).toBe('two')
})
