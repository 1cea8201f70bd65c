import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatIntegerArray } from '../../../src/wire/json/integers.ts'

test('any integers are formatted as by JSON.stringify', () => {
  const largest = 2 ** 31 - 1
  const number = fc.oneof(
    fc.nat(largest),
    fc.nat(20),
    fc.constantFrom(0, 9, 10, 99, 100, 999_999_999, 1_000_000_000, largest),
  )
  fc.assert(
    fc.property(fc.array(number), (numbers) => {
      expect(formatIntegerArray(Int32Array.from(numbers))).toBe(JSON.stringify(numbers))
    }),
  )
})
