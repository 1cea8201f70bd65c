import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { toPrices } from '../../src/pricing/index.ts'

test('a price that is not configured is zero, or the price that it defaults to', () => {
  expect(toPrices({})).toEqual({
    input: 0n,
    output: 0n,
    cachedInput: 0n,
    cacheWrite: 0n,
    cacheWrite1h: 0n,
    searches: 0n,
  })
  expect(toPrices({ cost_per_1m_input: 2, cost_per_1m_cache_write: 2.5 })).toMatchObject({
    input: 2_000_000_000n,
    cachedInput: 2_000_000_000n,
    cacheWrite: 2_500_000_000n,
    cacheWrite1h: 2_500_000_000n,
  })
})

test('a price of up to nine decimals is converted without rounding', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 15 }), (nanos) => {
      const usd = Number(`${nanos}e-9`)
      expect(toPrices({ cost_per_1k_searches: usd }).searches).toBe(BigInt(nanos))
    }),
  )
})
