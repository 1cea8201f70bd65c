import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { UsageEstimate } from '../../src/core/admission.ts'
import type { ModalityTokens } from '../../src/core/billing.ts'
import type { ModelId } from '../../src/core/ids.ts'
import type { CacheLife } from '../../src/core/layout.ts'
import type { Prices } from '../../src/core/prices.ts'
import type { Model } from '../../src/core/provider.ts'
import type { ProviderKind } from '../../src/core/provider-kind.ts'
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
  tools: { web_search: usd(10) },
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

  test('a token that was both written and read is charged once, as written', () => {
    const counts = usage({ promptTokens: 1_000, cachedTokens: 900, cacheWriteTokens: 300 })
    expect(calculateCost(prices, counts, undefined)).toBe(usd(0.00035 + 0.00075))
    const same = usage({ promptTokens: 1_000, cachedTokens: 990, cacheWriteTokens: 990 })
    expect(calculateCost(prices, same, undefined)).toBe(usd(0.000005 + 0.002475))
  })

  describe('of other modalities', () => {
    const own = {
      ...prices,
      audioInput: usd(10),
      imageInput: usd(1),
      cachedAudioInput: usd(0.7),
      audioOutput: usd(80),
    }
    const cost = (modalities: ModalityTokens, counts: Partial<Usage>, given: Prices = own) =>
      calculateCost(given, usage({ ...counts, billing: { modalities } }), undefined)

    test('tokens are charged at prices of their own', () => {
      const counts = { promptTokens: 1_000, completionTokens: 500, reasoningTokens: 100 }
      expect(cost({ audioInput: 200, imageInput: 300, audioOutput: 50 }, counts)).toBe(
        usd((200 * 10 + 300 * 1 + 500 * 2 + 50 * 80 + 450 * 8) / 1e6),
      )
    })

    test('without such prices they cost what text does', () => {
      const counts = { promptTokens: 1_000, completionTokens: 500 }
      const all = { audioInput: 200, imageInput: 300, videoInput: 5, audioOutput: 50 }
      expect(cost(all, counts, prices)).toBe(calculateCost(prices, usage(counts), undefined))
    })

    test('audio that was read from a cache is charged once', () => {
      const counts = { promptTokens: 1_000, cachedTokens: 400 }
      expect(cost({ audioInput: 300, cachedAudioInput: 100 }, counts)).toBe(
        usd((200 * 10 + 100 * 0.7 + 400 * 2 + 300 * 0.5) / 1e6),
      )
    })

    test('no more tokens are charged than there are', () => {
      const counts = {
        promptTokens: 100,
        cachedTokens: 60,
        completionTokens: 10,
        reasoningTokens: 4,
      }
      expect(cost({ audioInput: 90, imageInput: 90, audioOutput: 90 }, counts)).toBe(
        usd((40 * 10 + 60 * 0.5 + 6 * 80 + 4 * 8) / 1e6),
      )
    })
  })

  test('no more than the whole prompt is charged', () => {
    const counts = usage({ promptTokens: 10, cachedTokens: 600, cacheWriteTokens: 300 })
    expect(calculateCost(prices, counts, undefined)).toBe(usd(0.000025))
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

describe('the prompt of a reservation is counted at the dearest price that the request can reach', () => {
  type Writes = ProviderKind['writesCache']
  const upstream = (writesCache: Writes, own: Prices = prices) =>
    link(own, { provider: { kind: { writesCache } } as Model['provider'] })
  const reserve = (writesCache: Writes, cacheLife: CacheLife | undefined, own: Prices = prices) =>
    estimateMaxCost([upstream(writesCache, own)], { promptTokens: 1_000, cacheLife }, 0)

  test.each<[string, Writes, CacheLife | undefined, number]>([
    ['a request without a prompt cache', undefined, undefined, 2],
    ['a vendor that writes by itself', undefined, 'none', 2.5],
    ['a vendor that writes by itself, with a mark', undefined, '5m', 2.5],
    ['a vendor that writes by itself, with a mark of an hour', undefined, '1h', 4],
    ['a vendor that writes at marks, without one', 'when-marked', 'none', 2],
    ['a vendor that writes at marks', 'when-marked', '5m', 2.5],
    ['a vendor that writes at marks, for an hour', 'when-marked', '1h', 4],
    ['a vendor that never writes', 'never', '1h', 2],
  ])('%s', (_, writesCache, life, price) => {
    expect(reserve(writesCache, life)).toBe(usd(price / 1_000))
  })

  test('reading from the cache may be what is dearest', () => {
    const dear = { ...prices, cachedInput: usd(3) }
    expect(reserve('never', 'none', dear)).toBe(usd(0.003))
    expect(reserve('when-marked', '5m', dear)).toBe(usd(0.003))
    expect(reserve('when-marked', '1h', dear)).toBe(usd(0.004))
  })

  test('the dearest link of a chain is found by what it can reach itself', () => {
    const chain = [upstream('never'), upstream('when-marked', { ...prices, cacheWrite1h: usd(9) })]
    const cost = (cacheLife: CacheLife) =>
      estimateMaxCost(chain as [Model, Model], { promptTokens: 1_000, cacheLife }, 0)
    expect(cost('none')).toBe(usd(0.002))
    expect(cost('5m')).toBe(usd(0.0025))
    expect(cost('1h')).toBe(usd(0.009))
  })

  const price = fc.oneof(fc.bigInt(0n, 9n), fc.bigInt(0n, 10n ** 13n)).map(nano)
  const table = fc.record({
    input: price,
    output: price,
    cachedInput: price,
    cacheWrite: price,
    cacheWrite1h: price,
    searches: price,
  })
  // Mostly all of it: only the extremes show what is not reserved.
  const share = fc.oneof(
    { weight: 4, arbitrary: fc.constant(1) },
    fc.double({ min: 0, max: 1, noNaN: true }),
  )
  const scenario = fc.record({
    links: fc.array(
      fc.record({
        own: table,
        writesCache: fc.constantFrom<Writes[]>(undefined, 'when-marked', 'never'),
      }),
      { minLength: 1, maxLength: 3 },
    ),
    served: fc.nat(2),
    cacheLife: fc.constantFrom<CacheLife[]>('none', '5m', '1h'),
    promptTokens: fc.nat(1_000_000),
    maxTokens: fc.nat(10_000),
    choices: fc.integer({ min: 1, max: 3 }),
    /** What the answer uses of each maximum. */
    shares: fc.array(share, { minLength: 5, maxLength: 5 }),
  })
  type Scenario = typeof scenario extends fc.Arbitrary<infer Value> ? Value : never
  type Reserve = typeof estimateMaxCost

  /** Settles an answer within what the request can reach on the link that serves it. */
  function settle({ links, served, cacheLife, shares, ...max }: Scenario): bigint {
    const { own, writesCache } = links[served % links.length] as Scenario['links'][number]
    const [prompt = 0, cached = 0, written = 0, forAnHour = 0, output = 0] = shares
    const part = (most: number, used: number) => Math.floor(most * used)
    const promptTokens = part(max.promptTokens, prompt)
    const isWritten =
      writesCache === undefined || (writesCache === 'when-marked' && cacheLife !== 'none')
    const cacheWriteTokens = isWritten ? part(promptTokens, written) : 0
    const counts = usage({
      promptTokens,
      cachedTokens: part(promptTokens, cached),
      cacheWriteTokens,
      cacheWrite1hTokens: cacheLife === '1h' ? part(cacheWriteTokens, forAnHour) : 0,
      completionTokens: part(max.maxTokens * max.choices, output),
    })
    return calculateCost(own, counts, undefined)
  }

  /** Checks that no answer costs more than was reserved for it. */
  const check = (reserveBy: Reserve, numRuns: number) =>
    fc.check(
      fc.property(scenario, (asked) => {
        const { links, cacheLife, promptTokens, maxTokens, choices } = asked
        const chain = links.map(({ own, writesCache }) =>
          upstream(writesCache, { ...prices, ...own }),
        )
        const output = () => writing(maxTokens, choices)
        const estimate = { promptTokens, cacheLife, output }
        const reserved = reserveBy(chain as [Model, ...Model[]], estimate, 256)
        expect(settle(asked)).toBeLessThanOrEqual(reserved)
      }),
      { numRuns },
    )

  test('no answer costs more than was reserved', () => {
    expect(check(estimateMaxCost, 2_000).failed).toBe(false)
  })

  test.each<[string, Reserve]>([
    [
      'at the price of input only',
      (chain, estimate, reserved) =>
        estimateMaxCost(chain, { ...estimate, cacheLife: undefined }, reserved),
    ],
    [
      'as if nothing were marked',
      (chain, estimate, reserved) =>
        estimateMaxCost(chain, { ...estimate, cacheLife: 'none' }, reserved),
    ],
    [
      'as if every mark were of five minutes',
      (chain, { cacheLife, ...estimate }, reserved) =>
        estimateMaxCost(
          chain,
          { ...estimate, cacheLife: cacheLife === '1h' ? '5m' : cacheLife },
          reserved,
        ),
    ],
    [
      'as if no vendor wrote by itself',
      (chain, estimate, reserved) =>
        estimateMaxCost(
          chain.map(({ prices: own }) => upstream('when-marked', own)) as [Model, ...Model[]],
          estimate,
          reserved,
        ),
    ],
    [
      'as if nothing were read from a cache',
      (chain, estimate, reserved) =>
        estimateMaxCost(
          chain.map(({ prices: { input, ...own }, provider }) =>
            link({ ...own, input, cachedInput: input }, { provider }),
          ) as [Model, ...Model[]],
          estimate,
          reserved,
        ),
    ],
  ])('a reservation %s does not hold', (_, mutant) => {
    expect(check(mutant, 2_000).failed).toBe(true)
  })
})
