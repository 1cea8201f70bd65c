import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { UsageEstimate } from '../../src/core/admission.ts'
import type { ModelId } from '../../src/core/ids.ts'
import type { Usage } from '../../src/core/usage.ts'
import { calculateCost, estimateMaxCost, estimateMaxTokens } from '../../src/pricing/index.ts'
import { freeOfCharge, link, nano, usd, writing } from '../accounting/support.ts'

const prices = {
  input: usd(2),
  output: usd(8),
  cachedInput: usd(0.5),
  cacheWrite: usd(2.5),
  cacheWrite1h: usd(4),
  searches: usd(3),
}

function usage(counts: Partial<Usage>): Usage {
  return { promptTokens: 0, completionTokens: 0, totalTokens: 0, estimated: false, ...counts }
}

describe('the cost of an answer', () => {
  test('is its tokens at the prices of a million', () => {
    const counts = usage({ promptTokens: 1_000, completionTokens: 500 })
    expect(calculateCost(prices, counts, undefined)).toBe(usd(0.002 + 0.004))
  })

  test('takes cached tokens and cache writes out of the prompt', () => {
    const counts = usage({ promptTokens: 1_000, cachedTokens: 600, cacheWriteTokens: 300 })
    expect(calculateCost(prices, counts, undefined)).toBe(usd(0.0002 + 0.0003 + 0.00075))
  })

  test('has a price of its own for what is written for an hour', () => {
    const counts = usage({ promptTokens: 1_000, cacheWriteTokens: 300, cacheWrite1hTokens: 200 })
    expect(calculateCost(prices, counts, undefined)).toBe(usd(0.0014 + 0.00025 + 0.0008))
    const more = usage({ promptTokens: 1_000, cacheWriteTokens: 300, cacheWrite1hTokens: 900 })
    expect(calculateCost(prices, more, undefined)).toBe(usd(0.0014 + 0.0012))
  })

  test('takes away no more than the whole prompt', () => {
    const counts = usage({ promptTokens: 10, cachedTokens: 600, cacheWriteTokens: 300 })
    expect(calculateCost(prices, counts, undefined)).toBe(usd(0.0003 + 0.00075))
  })

  test('adds search units at the price of a thousand', () => {
    expect(calculateCost(prices, usage({ promptTokens: 1_000 }), 4)).toBe(usd(0.002 + 0.012))
  })

  test('rounds half up, once, at the end', () => {
    const half = { ...freeOfCharge, input: nano(250_000), output: nano(250_000) }
    const one = usage({ promptTokens: 1, completionTokens: 1 })
    expect(calculateCost(half, one, undefined)).toBe(1n)
    expect(calculateCost({ ...half, output: nano(249_999) }, one, undefined)).toBe(0n)
  })

  test('is exact for the largest counts and prices', () => {
    const most = usage({ promptTokens: Number.MAX_SAFE_INTEGER })
    expect(calculateCost({ ...freeOfCharge, input: usd(1e6) }, most, undefined)).toBe(
      9_007_199_254_740_991n * 1_000_000_000n,
    )
  })

  test('is the exact sum, within half a nano-dollar', () => {
    const count = fc.nat(10_000_000)
    const price = fc.bigInt(0n, 10n ** 15n).map(nano)
    fc.assert(
      fc.property(
        fc.tuple(count, count, count, count, count),
        fc.tuple(price, price),
        (counts, [a, b]) => {
          const [plain, cached, written, output, units] = counts
          const priced = {
            input: a,
            cachedInput: b,
            cacheWrite: a,
            cacheWrite1h: b,
            output: b,
            searches: a,
          }
          const told = usage({
            promptTokens: plain + cached + written,
            cachedTokens: cached,
            cacheWriteTokens: written,
            completionTokens: output,
          })
          const exact =
            BigInt(plain + written) * a + BigInt(cached + output) * b + BigInt(units) * a * 1_000n
          const error = calculateCost(priced, told, units) * 1_000_000n - exact
          expect(error > -500_000n && error <= 500_000n).toBe(true)
        },
      ),
    )
  })
})

describe('a reservation', () => {
  const chat = (maxTokens: number | undefined, choices = 1): UsageEstimate => ({
    promptTokens: 1_000,
    output: () => writing(maxTokens, choices),
  })

  test("takes the request's own bound of the output, for every choice", () => {
    const bounded = link(prices, { maxOutputTokens: 7 })
    expect(estimateMaxCost([bounded], chat(100, 3), 256)).toBe(usd(0.002 + 0.0024))
  })

  test("takes the model's bound where the request sets none", () => {
    const bounded = link(prices, { maxOutputTokens: 500 })
    expect(estimateMaxCost([bounded], chat(undefined, 2), 256)).toBe(usd(0.002 + 0.008))
  })

  test('takes the configured bound where nothing else bounds the output', () => {
    expect(estimateMaxCost([link(prices)], chat(undefined), 256)).toBe(usd(0.002 + 0.002048))
  })

  test('is priced by the dearest link for this very request', () => {
    const dearInput = link({ input: usd(9), output: usd(1) })
    const dearOutput = link({ input: usd(1), output: usd(9) })
    const chain = [dearInput, dearOutput] as const
    expect(estimateMaxCost(chain, chat(1), 256)).toBe(usd(0.009 + 0.000001))
    expect(estimateMaxCost(chain, chat(5_000), 256)).toBe(usd(0.001 + 0.045))
  })

  test('bounds the output of each link by itself', () => {
    const short = link({ output: usd(9) }, { maxOutputTokens: 10 })
    const long = link({ output: usd(1) }, { maxOutputTokens: 1_000 })
    expect(estimateMaxCost([short, long], chat(undefined), 256)).toBe(usd(0.001))
  })

  test('takes of each link what that link may write', () => {
    const demand: UsageEstimate = {
      promptTokens: 0,
      output: ({ id }) => (id === 'long' ? writing(1_000) : writing(10, 3)),
    }
    const short = link({ output: usd(9) }, { id: 'short' as ModelId })
    const long = link({ output: usd(1) }, { id: 'long' as ModelId })
    expect(estimateMaxCost([short, long], demand, 256)).toBe(usd(0.001))
    expect(estimateMaxCost([short], demand, 256)).toBe(usd(0.00027))
    expect(estimateMaxTokens([short, long], demand)).toBe(1_000)
  })

  test('of a request whose bound is not sent is no less than that bound', () => {
    const demand = (maxTokens: number): UsageEstimate => ({
      promptTokens: 0,
      output: () => ({ maxTokens, isBounded: false, choices: 1 }),
    })
    const dollar = link({ output: usd(1) })
    expect(estimateMaxCost([dollar], demand(1), 256)).toBe(usd(0.000256))
    expect(estimateMaxCost([dollar], demand(500), 256)).toBe(usd(0.0005))
  })

  test('of what generates nothing is its input', () => {
    expect(estimateMaxCost([link(prices)], { promptTokens: 1_000 }, 256)).toBe(usd(0.002))
  })

  test('counts search units', () => {
    const searching = link({ searches: usd(2) })
    expect(estimateMaxCost([searching], { promptTokens: 50, searchUnits: 3 }, 256)).toBe(usd(0.006))
  })

  test('is rounded up', () => {
    const cheap = link({ input: nano(1) })
    expect(estimateMaxCost([cheap], { promptTokens: 1 }, 256)).toBe(1n)
  })
})
