import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { UsageEstimate } from '../../src/core/admission.ts'
import type { BilledTool, UsageRun } from '../../src/core/billing.ts'
import type { CacheLife } from '../../src/core/layout.ts'
import {
  type AskedCalls,
  type InputModality,
  inputModalities,
  type OutputModality,
  outputModalities,
  type PriceAsk,
  type PriceFacts,
  type PriceTable,
} from '../../src/core/price-table.ts'
import type { Model } from '../../src/core/provider.ts'
import type { ProviderKind } from '../../src/core/provider-kind.ts'
import type { Usage } from '../../src/core/usage.ts'
import {
  createPriceTable,
  estimateMaxCost,
  estimateMaxLinkCost,
  listReservedLines,
  type PriceTableOptions,
  priceAnswer,
  toBasePrices,
} from '../../src/pricing/index.ts'
import { link, nano, usd, writing } from '../accounting/support.ts'

const noon = Date.UTC(2026, 10, 27, 12)
const minute = 60_000
const base = { cost_per_1m_input: 2, cost_per_1m_output: 10, cost_per_1m_cached_input: 0.1 }

function tableOf(
  entries: PriceTableOptions['entries'],
  options: Partial<PriceTableOptions> = {},
): PriceTable {
  return createPriceTable({
    base,
    entries,
    multiplier: undefined,
    autoTiers: ['standard'],
    autoGeos: ['global'],
    totalTimeout: 10 * minute,
    ...options,
  })
}

const facts: PriceFacts = { promptTokens: 1_000, tier: 'standard', geo: 'global', at: noon }
const resolve = (table: PriceTable, own: Partial<PriceFacts> = {}) =>
  table.resolve({ ...facts, ...own })
const inputOf = (table: PriceTable, own: Partial<PriceFacts> = {}) =>
  resolve(table, own).prices.input

describe('the prices of a call', () => {
  test('an entry holds when all of its conditions do', () => {
    const table = tableOf([{ above_input: 100, tier: ['priority', 'fast'], cost_per_1m_input: 7 }])
    expect(inputOf(table, { tier: 'priority' })).toBe(usd(7))
    expect(inputOf(table, { tier: 'priority', promptTokens: 100 })).toBe(usd(2))
    expect(inputOf(table)).toBe(usd(2))
  })

  test('a step holds for strictly more tokens', () => {
    const table = tableOf([{ above_input: 272_000, cost_per_1m_input: 4 }])
    expect(inputOf(table, { promptTokens: 272_000 })).toBe(usd(2))
    expect(inputOf(table, { promptTokens: 272_001 })).toBe(usd(4))
  })

  test('later entries replace prices by name, and factors multiply named prices too', () => {
    const table = tableOf(
      [
        { above_input: 100, cost_per_1m_input: 4, cost_per_1m_output: 15 },
        { tier: 'priority', multiply: 2 },
        { geo: 'us', multiply: 1.1 },
        { tier: 'priority', cost_per_1m_output: 20 },
      ],
      { multiplier: 1.5 },
    )
    const { prices, label } = resolve(table, { tier: 'priority', geo: 'us' })
    expect(prices).toMatchObject({
      input: usd(4 * 2 * 1.1 * 1.5),
      output: usd(20 * 2 * 1.1 * 1.5),
      cachedInput: usd(0.1 * 2 * 1.1 * 1.5),
    })
    expect(label).toBe('above 100, priority x2, geo us x1.1, priority')
  })

  test('a default follows the price that it is the default of', () => {
    const table = tableOf([{ above_input: 100, cost_per_1m_input: 4 }])
    expect(resolve(table).prices).toMatchObject({ cacheWrite: usd(4), cacheWrite1h: usd(4) })
    expect(resolve(table).prices).toMatchObject({ cachedInput: usd(0.1), output: usd(10) })
  })

  test('fees are not multiplied', () => {
    const fees = { cost_per_1k_searches: 1, cost_per_1k_web_searches: 10, cost_per_1k_requests: 5 }
    const table = tableOf([{ tier: 'flex', multiply: 0.5 }], { base: { ...base, ...fees } })
    expect(resolve(table, { tier: 'flex' }).prices).toMatchObject({
      input: usd(1),
      searches: usd(1),
      tools: { web_search: usd(10) },
      requests: usd(5),
    })
  })

  test('a factor is exact to the nano-dollar', () => {
    const own = { cost_per_1m_input: 0.000000003 }
    expect(inputOf(tableOf([{ tier: 'a', multiply: 0.5 }], { base: own }), { tier: 'a' })).toBe(2n)
    const odd = tableOf([{ tier: 'a', multiply: 0.0001 }], { base: { cost_per_1m_input: 1 } })
    expect(inputOf(odd, { tier: 'a' })).toBe(100_000n)
  })

  test('`fast` is the priority tier, unless an entry names it', () => {
    const priority = { tier: 'priority', cost_per_1m_input: 4 }
    expect(inputOf(tableOf([priority]), { tier: 'fast' })).toBe(usd(4))
    const both = tableOf([priority, { tier: 'fast', cost_per_1m_input: 6 }])
    expect(inputOf(both, { tier: 'fast' })).toBe(usd(6))
  })

  test('an entry replaces the prices of the tools that it names', () => {
    const own = { ...base, cost_per_1k_web_searches: 10, tool_costs_per_1k: { file_search: 2 } }
    const table = tableOf([{ tier: 'flex', tool_costs_per_1k: { file_search: 1 }, multiply: 2 }], {
      base: own,
    })
    const { tools } = resolve(table, { tier: 'flex' }).prices
    expect(tools).toMatchObject({ web_search: usd(10), file_search: usd(1), maps: 0n })
  })

  test('equal facts have the same vector', () => {
    const table = tableOf([{ tier: 'flex', multiply: 0.5 }])
    expect(resolve(table)).toBe(resolve(table, { promptTokens: 5, tier: 'unknown' }))
  })
})

describe('a window', () => {
  const holds = (entry: PriceTableOptions['entries'][number], at: string) =>
    inputOf(tableOf([{ ...entry, cost_per_1m_input: 9 }]), { at: Date.parse(at) }) === usd(9)

  test.each<[string, string, boolean]>([
    ['before its start', '2026-11-27T00:59:59.999Z', false],
    ['at its start', '2026-11-27T01:00:00Z', true],
    ['in its last minute', '2026-11-27T03:59:59.999Z', true],
    ['at its end', '2026-11-27T04:00:00Z', false],
    ['in the second one', '2026-11-27T09:00:00Z', true],
    ['on another day', '2026-11-28T02:00:00Z', false],
  ])('%s', (_, at, expected) => {
    const entry = {
      hours: ['01:00-04:00', '06:00-10:00'],
      days: ['mon', 'tue', 'wed', 'thu', 'fri'] as const,
    }
    expect(holds(entry, at)).toBe(expected)
  })

  test('over midnight belongs to the day on which it begins', () => {
    const entry = { hours: ['22:00-02:00'], days: ['fri'] as const }
    expect(holds(entry, '2026-11-27T21:59Z')).toBe(false)
    expect(holds(entry, '2026-11-27T22:00Z')).toBe(true)
    expect(holds(entry, '2026-11-28T01:59Z')).toBe(true)
    expect(holds(entry, '2026-11-28T02:00Z')).toBe(false)
    expect(holds(entry, '2026-11-27T01:00Z')).toBe(false)
    expect(holds(entry, '2026-11-28T22:30Z')).toBe(false)
  })

  test('has the hours of its time zone', () => {
    const entry = { hours: ['09:00-10:00'], time_zone: 'America/New_York', days: ['mon'] as const }
    expect(holds(entry, '2026-11-30T14:30Z')).toBe(true)
    expect(holds(entry, '2026-11-30T13:30Z')).toBe(false)
    // Summer time.
    expect(holds(entry, '2026-06-29T13:30Z')).toBe(true)
  })

  test('holds from a date and until another one, which is exclusive', () => {
    const entry = { from: '2026-12-01', until: '2027-01-01' }
    expect(holds(entry, '2026-11-30T23:59:59Z')).toBe(false)
    expect(holds(entry, '2026-12-01T00:00Z')).toBe(true)
    expect(holds(entry, '2026-12-31T23:59:59Z')).toBe(true)
    expect(holds(entry, '2027-01-01T00:00Z')).toBe(false)
  })

  test('to the end of a day ends with it', () => {
    expect(holds({ hours: ['20:00-24:00'] }, '2026-11-27T23:59Z')).toBe(true)
    expect(holds({ hours: ['20:00-24:00'] }, '2026-11-28T00:00Z')).toBe(false)
  })
})

const ask: PriceAsk = {
  tier: undefined,
  geo: undefined,
  at: noon,
  hasStoredPrompt: false,
  mayCacheLong: false,
  modalities: { input: new Set(), output: new Set() },
  tools: new Map(),
}

describe('the prices that a request can reach', () => {
  const inputs = (table: PriceTable, promptTokens: number, own: Partial<PriceAsk> = {}) =>
    table
      .listReachable(promptTokens, { ...ask, ...own })
      .map(({ prices }) => Number(prices.input) / 1e9)
      .sort((a, b) => a - b)

  test('are those of steps up to a quarter above its estimate', () => {
    const table = tableOf([{ above_input: 1_000, cost_per_1m_input: 4 }])
    expect(inputs(table, 800)).toEqual([2])
    expect(inputs(table, 801)).toEqual([2, 4])
  })

  test('are those of the asked tier, and of the standard one', () => {
    const table = tableOf([
      { tier: 'priority', multiply: 2 },
      { tier: 'flex', multiply: 0.5 },
    ])
    expect(inputs(table, 1)).toEqual([2])
    expect(inputs(table, 1, { tier: 'priority' })).toEqual([2, 4])
    expect(inputs(table, 1, { tier: 'flex' })).toEqual([1, 2])
    expect(inputs(table, 1, { tier: 'another' })).toEqual([2])
  })

  test('are those that an absent tier or region may become', () => {
    const entries = [
      { tier: 'priority', multiply: 2 },
      { geo: 'us', multiply: 1.1 },
    ]
    const table = tableOf(entries, {
      autoTiers: ['standard', 'priority'],
      autoGeos: ['global', 'us'],
    })
    expect(inputs(table, 1)).toEqual([2, 2.2, 4, 4.4])
    expect(inputs(table, 1, { tier: 'standard', geo: 'global' })).toEqual([2])
    expect(inputs(table, 1, { tier: 'standard', geo: 'us' })).toEqual([2, 2.2])
  })

  test('are those of windows that begin or end before the request is over', () => {
    const peak = { hours: ['13:00-14:00'], multiply: 2 }
    const at = (time: string) => inputs(tableOf([peak]), 1, { at: Date.parse(time) })
    expect(at('2026-11-27T12:48:00Z')).toEqual([2])
    expect(at('2026-11-27T12:50:00Z')).toEqual([2, 4])
    expect(at('2026-11-27T13:10:00Z')).toEqual([4])
    expect(at('2026-11-27T13:55:00Z')).toEqual([2, 4])
    const dated = tableOf([{ from: '2026-11-28', multiply: 2 }])
    expect(inputs(dated, 1, { at: Date.parse('2026-11-27T23:55Z') })).toEqual([2, 4])
  })
})

describe('no answer costs more than was reserved', () => {
  type Writes = ProviderKind['writesCache']
  const tiers = ['standard', 'priority', 'flex', 'fast'] as const
  const geos = ['global', 'us', 'eu'] as const
  const price = fc.oneof(fc.nat(9), fc.constantFrom(0.000000001, 0.1, 2.5, 75))
  const optionalPrice = fc.option(price, { nil: undefined, freq: 3 })
  const seldomPrice = fc.option(price, { nil: undefined, freq: 2 })
  const modalityPrices = {
    cost_per_1m_audio_input: seldomPrice,
    cost_per_1m_image_input: seldomPrice,
    cost_per_1m_video_input: seldomPrice,
    cost_per_1m_cached_audio_input: seldomPrice,
    cost_per_1m_audio_output: seldomPrice,
    cost_per_1m_image_output: seldomPrice,
  }
  const prices = {
    cost_per_1m_input: optionalPrice,
    cost_per_1m_output: optionalPrice,
    cost_per_1m_reasoning: fc.option(price, { nil: undefined, freq: 2 }),
    cost_per_1m_cached_input: optionalPrice,
    cost_per_1m_cache_write: optionalPrice,
    cost_per_1m_cache_write_1h: optionalPrice,
    cost_per_1m_cache_write_12h: fc.option(price, { nil: undefined, freq: 2 }),
    ...modalityPrices,
    cost_per_1k_requests: fc.option(price, { nil: undefined, freq: 2 }),
    tool_costs_per_1k: fc.option(
      fc.record({ web_search: price, file_search: price }, { requiredKeys: [] }),
      { nil: undefined, freq: 2 },
    ),
  }
  const time = fc.nat(24 * 12 - 1).map((at) => {
    const pad = (value: number) => String(value).padStart(2, '0')
    return `${pad(Math.floor(at / 12))}:${pad((at % 12) * 5)}`
  })
  const rarely = <T>(arbitrary: fc.Arbitrary<T>) =>
    fc.option(arbitrary, { nil: undefined, freq: 3 })
  const entry = fc.record({
    ...prices,
    above_input: rarely(fc.constantFrom(10, 100, 1_000, 2_000)),
    tier: rarely(fc.constantFrom(...tiers, tiers.slice(1))),
    geo: rarely(fc.constantFrom(...geos)),
    hours: rarely(
      fc
        .tuple(time, time)
        .filter(([start, end]) => start !== end)
        .map(([start, end]) => [`${start}-${end}`]),
    ),
    from: rarely(fc.constantFrom('2026-11-27', '2026-11-28')),
    until: rarely(fc.constantFrom('2026-11-28', '2026-11-29')),
    multiply: rarely(fc.constantFrom(0, 0.1, 0.5, 1.1, 2, 6)),
  })
  const asking = fc.option(fc.record<AskedCalls>({ calls: fc.nat(6), isBounded: fc.boolean() }), {
    nil: undefined,
  })
  const share = fc.oneof(
    { weight: 3, arbitrary: fc.constant(1) },
    fc.double({ min: 0, max: 1, noNaN: true }),
  )
  const some = <T>(...all: readonly T[]) =>
    fc.subarray([...all], { minLength: 1 }) as unknown as fc.Arbitrary<[T, ...T[]]>
  const scenario = fc.record({
    base: fc.record(prices),
    entries: fc.array(entry, { maxLength: 5 }),
    multiplier: rarely(fc.constantFrom(0.5, 1.1, 3)),
    autoTiers: some(...tiers),
    autoGeos: some(...geos),
    totalTimeout: fc.constantFrom(minute, 40 * minute),
    writesCache: fc.constantFrom<Writes[]>(undefined, 'when-marked', 'never'),
    maxInputTokens: rarely(fc.constant(3_000)),
    // What is asked.
    tier: rarely(fc.constantFrom(...tiers)),
    geo: rarely(fc.constantFrom(...geos)),
    hasStoredPrompt: fc.boolean(),
    mayCacheLong: fc.boolean(),
    sent: fc.subarray([...inputModalities]),
    asked: fc.subarray([...outputModalities]),
    toolReserve: fc.record({
      calls: fc.nat(4),
      tokens: fc.constantFrom(0, 0, 300),
      ofStored: fc.subarray<BilledTool>(['web_search', 'file_search']),
    }),
    searches: asking,
    fileSearches: asking,
    at: fc.nat(24 * 60 * 2).map((minutes) => Date.UTC(2026, 10, 27) + minutes * minute + 12_345),
    cacheLife: fc.constantFrom<CacheLife[]>('none', '5m', '1h'),
    promptTokens: fc.nat(1_500),
    maxTokens: fc.nat(1_000),
    choices: fc.integer({ min: 1, max: 2 }),
    // What is answered.
    shares: fc.array(share, { minLength: 8, maxLength: 8 }),
    media: fc.array(share, { minLength: 6, maxLength: 6 }),
    runs: fc.integer({ min: 1, max: 3 }),
    delay: fc.nat(100).map((percent) => percent / 100),
    served: fc.nat(9),
    servedGeo: fc.nat(9),
    isTold: fc.boolean(),
  })
  type Scenario = typeof scenario extends fc.Arbitrary<infer Value> ? Value : never

  function toAsk(asked: Scenario): PriceAsk {
    const { tier, geo, at, hasStoredPrompt, mayCacheLong, searches, fileSearches } = asked
    const modalities = { input: new Set(asked.sent), output: new Set(asked.asked) }
    const tools = new Map<BilledTool, AskedCalls>()
    if (searches) tools.set('web_search', searches)
    if (fileSearches) tools.set('file_search', fileSearches)
    return { tier, geo, at, hasStoredPrompt, mayCacheLong, modalities, tools }
  }

  function build(asked: Scenario): { model: Model; estimate: UsageEstimate } {
    const { entries, multiplier, writesCache, maxInputTokens, maxTokens, choices } = asked
    const table = createPriceTable({ ...asked, entries })
    const model = link(toBasePrices(asked.base, multiplier), {
      priceTable: table,
      maxInputTokens,
      toolReserve: asked.toolReserve,
      provider: { kind: { writesCache } } as Model['provider'],
    })
    const { promptTokens, cacheLife } = asked
    const output = () => writing(maxTokens, choices)
    return { model, estimate: { promptTokens, cacheLife, output, ask: toAsk(asked) } }
  }

  /** Settles an answer within what the request can reach. */
  function settle(model: Model, asked: Scenario): bigint {
    const { tier, geo, hasStoredPrompt, mayCacheLong } = asked
    const { maxInputTokens = 0, cacheLife, writesCache } = asked
    const [prompt = 0, cached = 0, written = 0, forAnHour = 0, output = 0, thought = 0] =
      asked.shares
    const part = (most: number, used: number) => Math.floor(most * used)
    const most = hasStoredPrompt ? Math.max(asked.promptTokens, maxInputTokens) : asked.promptTokens
    const { toolReserve, choices } = asked
    const run = (name: BilledTool, named: AskedCalls | undefined, used = 0) => {
      const isStored = hasStoredPrompt && toolReserve.ofStored.includes(name)
      const calls = isStored ? { calls: named?.calls ?? 0, isBounded: false } : named
      if (!calls) return 0
      const { isBounded } = calls
      return part(
        (isBounded ? calls.calls : Math.max(calls.calls, toolReserve.calls)) * choices,
        used,
      )
    }
    const webSearches = run('web_search', asked.searches, asked.shares[6])
    const fileSearches = run('file_search', asked.fileSearches, asked.shares[7])
    const results = (webSearches + fileSearches) * toolReserve.tokens
    const promptTokens = part(most, prompt) + results
    const completionTokens = part(asked.maxTokens * asked.choices, output)
    const isWritten =
      writesCache === undefined || (writesCache === 'when-marked' && cacheLife !== 'none')
    const toRun = (at: number): UsageRun => {
      // The first runs have the rest of what the others divide.
      const portion = (count: number) =>
        Math.floor(count / asked.runs) + (at === 0 ? count % asked.runs : 0)
      const ofRun = portion(promptTokens)
      const cacheWriteTokens = isWritten ? part(ofRun, written) : 0
      return {
        promptTokens: ofRun,
        completionTokens: portion(completionTokens),
        cachedTokens: part(ofRun, cached),
        cacheWriteTokens,
        cacheWrite1hTokens: cacheLife === '1h' ? part(cacheWriteTokens, forAnHour) : 0,
      }
    }
    const runs = Array.from({ length: asked.runs }, (_, at) => toRun(at))
    const reachableTiers = tier === undefined ? asked.autoTiers : [tier, 'standard']
    const reachableGeos = geo === undefined ? asked.autoGeos : [geo, 'global']
    const told = {
      tier: reachableTiers[asked.served % reachableTiers.length],
      geo: reachableGeos[asked.servedGeo % reachableGeos.length],
    }
    // A stored prompt may have any modality.
    const mayHave = (modality: InputModality) => hasStoredPrompt || asked.sent.includes(modality)
    const [audio, image, video, cachedAudio, spoken, drawn] = asked.media.map((used, which) => {
      const whole = which < 4 ? promptTokens : completionTokens
      const isPossible = [
        mayHave('audio'),
        mayHave('image'),
        mayHave('video'),
        mayHave('audio'),
        asked.asked.includes('audio'),
        asked.asked.includes('image'),
      ][which]
      return isPossible ? part(whole, used) : 0
    })
    const modalities = {
      audioInput: audio,
      imageInput: image,
      videoInput: video,
      cachedAudioInput: cachedAudio,
      audioOutput: spoken,
      imageOutput: drawn,
    }
    const usage: Usage = {
      ...(runs[0] as UsageRun),
      promptTokens,
      completionTokens,
      totalTokens: promptTokens + completionTokens,
      reasoningTokens: part(completionTokens, thought),
      cacheWrite12hTokens: mayCacheLong && writesCache === undefined ? promptTokens : 0,
      estimated: false,
      webSearches,
      billing: {
        modalities,
        toolCalls: { file_search: fileSearches },
        ...(asked.isTold && told),
        ...(asked.runs > 1 && { runs }),
      },
    }
    const own = toAsk(asked)
    const sentAt = asked.at + asked.delay * asked.totalTimeout
    return priceAnswer(model, { usage, searchUnits: undefined, ask: own, sentAt }).cost
  }

  type Mutate = (
    model: Model,
    estimate: UsageEstimate,
    asked: Scenario,
  ) => readonly [Model, UsageEstimate]

  const check = (mutate: Mutate, parameters: fc.Parameters<[Scenario]>) =>
    fc.check(
      fc.property(scenario, (asked) => {
        const { model, estimate } = build(asked)
        const [reserved, given] = mutate(model, estimate, asked)
        expect(settle(model, asked)).toBeLessThanOrEqual(estimateMaxCost([reserved], given, 256))
      }),
      parameters,
    )

  test('for any table, request and answer', () => {
    const result = check((...all) => [all[0], all[1]], { numRuns: 5_000 })
    expect(result.failed ? fc.defaultReportMessage(result) : '').toBe('')
  })

  test('and the lines that explain shows add up to it, to the last millionth', () => {
    fc.assert(
      fc.property(scenario, (asked) => {
        const { model, estimate } = build(asked)
        const lines = listReservedLines(model, estimate, 256)
        const sum = lines.reduce((total, { cost }) => total + cost, 0n)
        expect(sum).toBe(estimateMaxLinkCost(model, estimate, 256))
      }),
      { numRuns: 2_000 },
    )
  })

  const withTable =
    (list: (table: PriceTable, promptTokens: number, own: PriceAsk) => unknown): Mutate =>
    (model, estimate) => {
      const table = model.priceTable as PriceTable
      const listReachable = (tokens: number, own: PriceAsk) =>
        list(table, tokens, own) as ReturnType<PriceTable['listReachable']>
      return [{ ...model, priceTable: { ...table, listReachable } }, estimate]
    }
  const withAsk =
    (change: Partial<PriceAsk>): Mutate =>
    (model, estimate) => [model, { ...estimate, ask: { ...(estimate.ask as PriceAsk), ...change } }]

  const withModalities =
    (change: { input?: readonly InputModality[]; output?: readonly OutputModality[] }): Mutate =>
    (model, estimate) => {
      const asked = estimate.ask as PriceAsk
      const kept = <Modality>(all: ReadonlySet<Modality>, left?: readonly Modality[]) =>
        new Set([...all].filter((each) => left?.includes(each) ?? true))
      const modalities = {
        input: kept(asked.modalities.input, change.input),
        output: kept(asked.modalities.output, change.output),
      }
      return [model, { ...estimate, ask: { ...asked, modalities } }]
    }

  test.each<[string, Mutate]>([
    ['at the prices of short prompts', withTable((table, _, own) => table.listReachable(0, own))],
    [
      'at the prices of the largest prompt alone',
      withTable((table, promptTokens, { tier, geo, at }) => [
        ...(['standard', 'priority', 'flex', 'fast'] as const).map((other) =>
          table.resolve({ promptTokens, tier: other, geo: geo ?? 'global', at }),
        ),
        table.resolve({ promptTokens, tier: tier ?? 'standard', geo: geo ?? 'global', at }),
      ]),
    ],
    ['at the standard tier', withAsk({ tier: 'standard' })],
    [
      'at the asked tier alone',
      withTable((table, tokens, own) =>
        table
          .listReachable(tokens, own)
          .filter((_, at, all) => own.tier === undefined || all.length === 1 || at === 0),
      ),
    ],
    ['in the region that is the default', withAsk({ geo: 'global' })],
    [
      'at the prices of now',
      (model, estimate, asked) => [
        { ...model, priceTable: createPriceTable({ ...asked, totalTimeout: -minute }) },
        estimate,
      ],
    ],
    ['as if nothing were marked', (model, estimate) => [model, { ...estimate, cacheLife: 'none' }]],
    [
      'as if the vendor wrote no cache by itself',
      (model, estimate) => [
        { ...model, provider: { kind: { writesCache: 'never' } } as Model['provider'] },
        estimate,
      ],
    ],
    ['as if nothing were cached for long', withAsk({ mayCacheLong: false })],
    ['as if the body had the whole prompt', withAsk({ hasStoredPrompt: false })],
    [
      'as if reasoning were text',
      withTable((table, tokens, own) =>
        table.listReachable(tokens, own).map((one) => ({
          ...one,
          prices: { ...one.prices, reasoning: one.prices.output },
        })),
      ),
    ],
    [
      'without the fee of a request',
      withTable((table, tokens, own) =>
        table
          .listReachable(tokens, own)
          .map((one) => ({ ...one, prices: { ...one.prices, requests: nano(0) } })),
      ),
    ],
    ['as if the prompt were text', withModalities({ input: [] })],
    ['as if nothing but text were generated', withModalities({ output: [] })],
    ...inputModalities.map((modality): [string, Mutate] => [
      `as if the prompt had no ${modality}`,
      withModalities({ input: inputModalities.filter((other) => other !== modality) }),
    ]),
    ...outputModalities.map((modality): [string, Mutate] => [
      `as if no ${modality} were generated`,
      withModalities({ output: outputModalities.filter((other) => other !== modality) }),
    ]),
    [
      'as if cached audio were text',
      withTable((table, tokens, own) =>
        table.listReachable(tokens, own).map((one) => ({
          ...one,
          prices: { ...one.prices, cachedAudioInput: one.prices.cachedInput },
        })),
      ),
    ],
    [
      'as if a stored prompt had the modalities of the body',
      (model, estimate, { hasStoredPrompt, maxInputTokens = 0, promptTokens }) => [
        model,
        {
          ...estimate,
          promptTokens: hasStoredPrompt ? Math.max(maxInputTokens, promptTokens) : promptTokens,
          ask: { ...(estimate.ask as PriceAsk), hasStoredPrompt: false },
        },
      ],
    ],
    ['without the fees of tools', withAsk({ tools: new Map() })],
    [
      'with the fee of one tool alone',
      (model, estimate, { searches }) => [
        model,
        {
          ...estimate,
          ask: {
            ...(estimate.ask as PriceAsk),
            tools: new Map(searches && [['web_search', searches]]),
          },
        },
      ],
    ],
    [
      'with the calls that the request names',
      (model, estimate, { toolReserve }) => [
        { ...model, toolReserve: { ...toolReserve, calls: 0 } },
        estimate,
      ],
    ],
    [
      'as if a stored conversation had no tools',
      (model, estimate, { toolReserve }) => [
        { ...model, toolReserve: { ...toolReserve, ofStored: [] } },
        estimate,
      ],
    ],
    [
      'as if calls of tools brought no tokens',
      (model, estimate, { toolReserve }) => [
        { ...model, toolReserve: { ...toolReserve, tokens: 0 } },
        estimate,
      ],
    ],
    [
      'without the factor of the provider',
      (model, estimate, asked) => [
        { ...model, priceTable: createPriceTable({ ...asked, multiplier: undefined }) },
        estimate,
      ],
    ],
  ])('a reservation %s does not hold', (_, mutant) => {
    // Some fail in one of some thousand cases; most end after a few.
    expect(check(mutant, { numRuns: 200_000, endOnFailure: true }).failed).toBe(true)
  })
})
