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
  webSearches: usd(10),
}

function usage(counts: Partial<Usage>): Usage {
  return { promptTokens: 0, completionTokens: 0, totalTokens: 0, estimated: false, ...counts }
}

describe('the cost of an answer', () => {
  test('tokens are charged at prices per million', () => {
    const counts = usage({ promptTokens: 1_000, completionTokens: 500 })
    expect(calculateCost(prices, counts, undefined)).toBe(usd(0.002 + 0.004))
  })

  test('searches of the web are charged at the price per thousand', () => {
    const counts = usage({ promptTokens: 1_000, completionTokens: 500, webSearches: 3 })
    expect(calculateCost(prices, counts, undefined)).toBe(usd(0.002 + 0.004 + 0.03))
  })

  test('cached tokens and cache writes are subtracted from the prompt', () => {
    const counts = usage({ promptTokens: 1_000, cachedTokens: 600, cacheWriteTokens: 300 })
    expect(calculateCost(prices, counts, undefined)).toBe(usd(0.0002 + 0.0003 + 0.00075))
  })

  test('tokens written for an hour have their own price', () => {
    const counts = usage({ promptTokens: 1_000, cacheWriteTokens: 300, cacheWrite1hTokens: 200 })
    expect(calculateCost(prices, counts, undefined)).toBe(usd(0.0014 + 0.00025 + 0.0008))
    const more = usage({ promptTokens: 1_000, cacheWriteTokens: 300, cacheWrite1hTokens: 900 })
    expect(calculateCost(prices, more, undefined)).toBe(usd(0.0014 + 0.0012))
  })

  test('no more than the whole prompt is subtracted', () => {
    const counts = usage({ promptTokens: 10, cachedTokens: 600, cacheWriteTokens: 300 })
    expect(calculateCost(prices, counts, undefined)).toBe(usd(0.0003 + 0.00075))
  })

  test('search units are charged at a price per thousand', () => {
    expect(calculateCost(prices, usage({ promptTokens: 1_000 }), 4)).toBe(usd(0.002 + 0.012))
  })

  test('the sum is rounded once, half up', () => {
    const half = { ...freeOfCharge, input: nano(250_000), output: nano(250_000) }
    const one = usage({ promptTokens: 1, completionTokens: 1 })
    expect(calculateCost(half, one, undefined)).toBe(1n)
    expect(calculateCost({ ...half, output: nano(249_999) }, one, undefined)).toBe(0n)
  })

  test('the cost is exact for the largest counts and prices', () => {
    const most = usage({ promptTokens: Number.MAX_SAFE_INTEGER })
    expect(calculateCost({ ...freeOfCharge, input: usd(1e6) }, most, undefined)).toBe(
      9_007_199_254_740_991n * 1_000_000_000n,
    )
  })

  test('the cost is the exact sum, within half a nano-dollar', () => {
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
          const reported = usage({
            promptTokens: plain + cached + written,
            cachedTokens: cached,
            cacheWriteTokens: written,
            completionTokens: output,
          })
          const exact =
            BigInt(plain + written) * a + BigInt(cached + output) * b + BigInt(units) * a * 1_000n
          const error = calculateCost(priced, reported, units) * 1_000_000n - exact
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

  test('the request’s own output bound counts once per choice', () => {
    const bounded = link(prices, { maxOutputTokens: 7 })
    expect(estimateMaxCost([bounded], chat(100, 3), 256)).toBe(usd(0.002 + 0.0024))
  })

  test('the model’s bound applies when the request sets none', () => {
    const bounded = link(prices, { maxOutputTokens: 500 })
    expect(estimateMaxCost([bounded], chat(undefined, 2), 256)).toBe(usd(0.002 + 0.008))
  })

  test('the configured bound applies when nothing else bounds the output', () => {
    expect(estimateMaxCost([link(prices)], chat(undefined), 256)).toBe(usd(0.002 + 0.002048))
  })

  test('the link that is dearest for this request sets the price', () => {
    const dearInput = link({ input: usd(9), output: usd(1) })
    const dearOutput = link({ input: usd(1), output: usd(9) })
    const chain = [dearInput, dearOutput] as const
    expect(estimateMaxCost(chain, chat(1), 256)).toBe(usd(0.009 + 0.000001))
    expect(estimateMaxCost(chain, chat(5_000), 256)).toBe(usd(0.001 + 0.045))
  })

  test('the output of each link has its own bound', () => {
    const short = link({ output: usd(9) }, { maxOutputTokens: 10 })
    const long = link({ output: usd(1) }, { maxOutputTokens: 1_000 })
    expect(estimateMaxCost([short, long], chat(undefined), 256)).toBe(usd(0.001))
  })

  test('each link counts what it may write', () => {
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

  test('a bound that is not sent is still reserved', () => {
    const demand = (maxTokens: number): UsageEstimate => ({
      promptTokens: 0,
      output: () => ({ maxTokens, isBounded: false, choices: 1 }),
    })
    const dollar = link({ output: usd(1) })
    expect(estimateMaxCost([dollar], demand(1), 256)).toBe(usd(0.000256))
    expect(estimateMaxCost([dollar], demand(500), 256)).toBe(usd(0.0005))
  })

  test('a request that generates nothing reserves its input', () => {
    expect(estimateMaxCost([link(prices)], { promptTokens: 1_000 }, 256)).toBe(usd(0.002))
  })

  test('search units are reserved', () => {
    const searching = link({ searches: usd(2) })
    expect(estimateMaxCost([searching], { promptTokens: 50, searchUnits: 3 }, 256)).toBe(usd(0.006))
  })

  test('a reservation is rounded up', () => {
    const cheap = link({ input: nano(1) })
    expect(estimateMaxCost([cheap], { promptTokens: 1 }, 256)).toBe(1n)
  })
})
