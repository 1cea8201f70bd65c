import fc from 'fast-check'
import { expect, test } from 'vitest'
import { base64Length, floatBytes, readFloats, writeBase64 } from '../../src/wire/floats.ts'

function base64(bytes: Uint8Array): string {
  const target = new Uint8Array(base64Length(bytes.length) + 2)
  const end = writeBase64(bytes, target, 1)
  expect(end).toBe(target.length - 1)
  return new TextDecoder().decode(target.subarray(1, end))
}

test('base64 is what everyone else writes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      expect(base64(bytes)).toBe(Buffer.from(bytes).toString('base64'))
    }),
  )
})

test.each([
  [[0.5, -0.25], 'AAAAPwAAgL4='],
  [[1, 0, -1], 'AACAPwAAAAAAAIC/'],
  [[0.1, 0.2], 'zczMPc3MTD4='],
])('%j is %s', (numbers, text) => {
  const floats = Float32Array.from(numbers)
  expect(base64(floatBytes(floats))).toBe(text)
  expect(readFloats(text)).toEqual(floats)
})

test.each([
  ['no base64', '$$$$'],
  ['nothing', ''],
  ['half a number', 'AAAA'],
  ['not a number', 'AADAfw=='],
  ['infinity', 'AACAfw=='],
])('%s is no vector', (_, text) => {
  expect(readFloats(text)).toBeUndefined()
})
