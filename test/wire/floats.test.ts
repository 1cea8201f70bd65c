import { expect, test } from 'vitest'
import { encodeBase64 } from '../../src/wire/base64.ts'
import { decodeFloats, encodeFloats } from '../../src/wire/floats.ts'

test.each([
  [[0.5, -0.25], 'AAAAPwAAgL4='],
  [[1, 0, -1], 'AACAPwAAAAAAAIC/'],
  [[0.1, 0.2], 'zczMPc3MTD4='],
])('%j encodes to %s', (numbers, text) => {
  const floats = Float32Array.from(numbers)
  expect(encodeBase64(encodeFloats(floats))).toBe(text)
  expect(decodeFloats(text)).toEqual(floats)
})

test.each([
  ['no base64', '$$$$'],
  ['nothing', ''],
  ['half a number', 'AAAA'],
  ['not a number', 'AADAfw=='],
  ['infinity', 'AACAfw=='],
])('%s is not a vector', (_, text) => {
  expect(decodeFloats(text)).toBeUndefined()
})
