import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { NanoUsd } from '../../src/core/ids.ts'
import { toNanoUsd, toUsd } from '../../src/core/money.ts'

const nano = (amount: bigint) => amount as NanoUsd

test('an amount is rendered as the nearest number of dollars', () => {
  expect(toUsd(nano(0n))).toBe(0)
  expect(toUsd(nano(1n))).toBe(1e-9)
  expect(toUsd(nano(-1_500_000_000n))).toBe(-1.5)
  expect(toUsd(nano(300_000_000n))).toBe(0.3)
  expect(toUsd(nano(10n ** 21n))).toBe(1e12)
  expect(toUsd(nano(999_999_999_999_123_456_789n))).toBe(Number('999999999999.123456789'))
  expect(toUsd(nano(-999_999_999_999_123_456_789n))).toBe(Number('-999999999999.123456789'))
})

test('every amount is rendered as its decimal notation', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 21n), (amount) => {
      const digits = String(amount).padStart(10, '0')
      expect(toUsd(nano(amount))).toBe(Number(`${digits.slice(0, -9)}.${digits.slice(-9)}`))
    }),
  )
})

test('dollars are read by their decimal notation', () => {
  expect(toNanoUsd(0)).toBe(0n)
  expect(toNanoUsd(0.1)).toBe(100_000_000n)
  expect(toNanoUsd(1e-9)).toBe(1n)
  expect(toNanoUsd(1.005)).toBe(1_005_000_000n)
  expect(toNanoUsd(999999999999.1)).toBe(999_999_999_999_100_000_000n)
  expect(toNanoUsd(1e12)).toBe(10n ** 21n)
})

test('a fraction of a nano-dollar is rounded half up', () => {
  expect(toNanoUsd(4e-10)).toBe(0n)
  expect(toNanoUsd(5e-10)).toBe(1n)
  expect(toNanoUsd(0.1234567894)).toBe(123_456_789n)
  expect(toNanoUsd(0.1234567895)).toBe(123_456_790n)
})

test('an amount up to four million dollars survives a round trip', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 4n * 10n ** 15n), (amount) => {
      expect(toNanoUsd(toUsd(nano(amount)))).toBe(amount)
    }),
  )
})
