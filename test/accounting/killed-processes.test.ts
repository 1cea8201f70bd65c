import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KeyId } from '../../src/core/ids.ts'
import type { PriceAsk, PriceTable } from '../../src/core/price-table.ts'
import type { Prices } from '../../src/core/prices.ts'
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts'
import { type KilledStep, type Layout, layouts, places } from './killed-step.ts'
import { KilledWorld, keyIds, type ReserveAs, type WorldOptions } from './killed-world.ts'
import type { PricedDemand } from './priced-model.ts'
import { writing } from './support.ts'

const place = fc.constantFrom(...places)
const at = fc.nat(9)

const anyStep: fc.Arbitrary<KilledStep> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('admit' as const),
      place,
      key: fc.constantFrom(...keyIds),
      tokens: fc.integer({ min: 1, max: 30 }),
      more: fc.record({
        output: fc.constantFrom(0, 0, 3),
        choices: fc.constantFrom(1, 1, 2),
        tier: fc.constantFrom(undefined, undefined, 'priority' as const),
        hasAudio: fc.constantFrom(false, false, false, true),
        searches: fc.constantFrom(0, 0, 1, 2),
      }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      at,
      percent: fc.nat(100),
      isAsked: fc.boolean(),
      delay: fc.constantFrom(0, 60_000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('fail' as const), at, percent: fc.nat(100) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('kill' as const), place }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('open' as const), place }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cut' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('stall' as const), place }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const), place }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('drag' as const),
      place,
      time: fc.constantFrom(200, 1_500),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('strike' as const),
      place,
      call: fc.constantFrom(
        'admit',
        'extend',
        'settle',
        'renew',
        'close',
        'addUsage',
        'addLostUsage',
      ),
      when: fc.constantFrom('before' as const, 'after' as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('mend' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('empty' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('save' as const), place }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      time: fc.constantFrom(100, 600, 2_500, 9_000),
    }),
  },
)

const admitTo = (key: KeyId | undefined, asked: string, tokens: number) =>
  // There are three keys.
  ({ do: 'admit', place: asked, key: key as KeyId, tokens }) as const
const admit = (asked: string, tokens: number) => admitTo(keyIds[0], asked, tokens)
const settle = { do: 'settle', at: 0, percent: 100 } as const
const fail = { do: 'fail', at: 0, percent: 100 } as const
const wait = { do: 'wait', time: 9_000 } as const

/** Histories that are seldom found by chance. The lease is 8 seconds. */
const histories: Readonly<Record<string, readonly KilledStep[]>> = {
  'the server has admitted a request that was refused, and its process is slow to withdraw it': [
    // So that the server knows the key.
    admit('1', 1),
    { do: 'lose', place: '2' },
    admit('2', 5),
    wait,
  ],
  'a slow process ends a request that was charged as lost, and is killed before it hears of that': [
    admit('2', 5),
    { do: 'stall', place: '2' },
    wait,
    settle,
    { do: 'kill', place: '2' },
  ],
  'a process is killed whose attempt has failed while another one runs': [
    admit('2', 5),
    fail,
    { do: 'kill', place: '2' },
    wait,
    admit('1', 30),
  ],
  'three processes ask for the last room for another attempt': [
    admit('1', 10),
    admit('2', 10),
    admit('3', 10),
    fail,
    { ...fail, at: 1 },
    { ...fail, at: 2 },
  ],
  'the reply is lost that reserves another attempt, and the process is killed': [
    admit('2', 5),
    { do: 'lose', place: '2' },
    fail,
    { do: 'kill', place: '2' },
    wait,
  ],
  'the server loses its data behind an attempt that has failed': [
    admit('2', 5),
    fail,
    { do: 'empty' },
    fail,
    admit('1', 30),
  ],
  'the server is away when an attempt fails': [
    admit('2', 5),
    { do: 'cut' },
    fail,
    { do: 'mend' },
    admit('1', 30),
  ],
  'the server loses its data after a slow process was charged for a request': [
    admit('2', 5),
    { do: 'stall', place: '2' },
    wait,
    { do: 'wait', time: 600 },
    { do: 'empty', evenSo: true },
    admit('1', 5),
    { do: 'mend' },
    settle,
  ],
  'the server loses its data while a living process is cut off, which brings what it has charged': [
    // Only the server and the process know of the first charge.
    admitTo(keyIds[1], '2', 5),
    settle,
    admit('2', 3),
    { do: 'stall', place: '2' },
    settle,
    { do: 'empty', evenSo: true },
    admit('1', 5),
    { do: 'wait', time: 600 },
    admitTo(keyIds[1], '1', 1),
    { do: 'mend' },
  ],
  'a slow process has saved what the server does not know yet': [
    admit('2', 26),
    { do: 'stall', place: '2' },
    settle,
    { do: 'save', place: '2' },
    wait,
    admit('1', 30),
  ],
  'a process is killed while the server is away, and what it had saved is there': [
    admit('2', 26),
    { do: 'cut' },
    settle,
    { do: 'save', place: '2' },
    { do: 'kill', place: '2' },
    { do: 'mend' },
    wait,
    admit('1', 30),
  ],
  'a process is killed just after the server has lost its data, and its journal has the rest': [
    admit('2', 26),
    { do: 'empty' },
    settle,
    { do: 'kill', place: '2' },
    admit('1', 30),
  ],
}

/** Each process is on a machine of its own. */
const apart: Readonly<Record<string, readonly KilledStep[]>> = {
  'a process is started again while another one charges what it has left, and has a row of that in its journal':
    [
      admit('2', 5),
      { do: 'stall', place: '2' },
      settle,
      { do: 'kill', place: '2' },
      { do: 'kill', place: '3' },
      { do: 'drag', place: '1', time: 1_500 },
      wait,
      { do: 'open', place: '2' },
    ],
  'a slow process has saved the row of a request that was charged as lost, and is killed': [
    admit('2', 5),
    { do: 'stall', place: '2' },
    wait,
    settle,
    { do: 'save', place: '2' },
    { do: 'kill', place: '2' },
  ],
  'a process is killed in the moment in which it ends a request': [
    admitTo(keyIds[2], '2', 5),
    { do: 'strike', place: '2', call: 'settle', when: 'after' },
    settle,
    wait,
  ],
  'a process is killed in the moment in which it reserves another attempt': [
    admit('2', 5),
    { do: 'strike', place: '2', call: 'extend', when: 'after' },
    fail,
    wait,
    admit('1', 30),
  ],
  'a slow process wants another attempt for a request that was charged as lost': [
    admit('2', 5),
    { do: 'stall', place: '2' },
    wait,
    { do: 'wait', time: 2_500 },
    { do: 'mend' },
    fail,
  ],
  'a process is killed just after it has charged what another one has left': [
    admit('2', 5),
    { do: 'kill', place: '2' },
    { do: 'kill', place: '3' },
    { do: 'strike', place: '1', call: 'settle', when: 'after' },
    wait,
  ],
}

describe.skipIf(!hasRedis)('processes that are killed at any moment', () => {
  let redis: RedisServer

  beforeAll(async () => {
    redis = await startRedis()
  })

  afterAll(() => redis.stop())

  let count = 0
  async function findProblems(
    steps: readonly KilledStep[],
    options: Pick<WorldOptions, 'layout' | 'reserveAs'>,
  ): Promise<string[]> {
    const world = await KilledWorld.open({ redis, prefix: `killed${count++}`, ...options })
    for (const step of steps) await world.take(step)
    await world.end()
    return world.listProblems()
  }

  async function expectToAgree(steps: readonly KilledStep[], layout: Layout): Promise<void> {
    expect(await findProblems(steps, { layout })).toEqual([])
  }

  test.each(Object.entries(histories))('%s', (_, steps) => expectToAgree(steps, layouts.oneMachine))

  test.each(Object.entries(apart))('on several machines, %s', (_, steps) =>
    expectToAgree(steps, layouts.threeMachines),
  )

  describe('pass no cap, whose requests reach all of their prices, and would if they reserved', () => {
    const withPrices =
      (change: (prices: Prices) => Prices): ReserveAs =>
      (model, estimate) => {
        const table = model.priceTable as PriceTable
        const listReachable: PriceTable['listReachable'] = (tokens, ask) =>
          table
            .listReachable(tokens, ask)
            .map(({ prices, label }) => ({ prices: change(prices), label }))
        return [{ ...model, priceTable: { ...table, listReachable } }, estimate]
      }
    const withAsk =
      (change: (ask: PriceAsk) => Partial<PriceAsk>): ReserveAs =>
      (model, estimate) => {
        const ask = estimate.ask as PriceAsk
        return [model, { ...estimate, ask: { ...ask, ...change(ask) } }]
      }
    const hour = 3_600_000

    const mutants: readonly [string, number, Partial<PricedDemand>, ReserveAs][] = [
      [
        'the prices of short prompts',
        24,
        {},
        (model, estimate) => {
          const table = model.priceTable as PriceTable
          const listReachable: PriceTable['listReachable'] = (_, ask) => table.listReachable(0, ask)
          return [{ ...model, priceTable: { ...table, listReachable } }, estimate]
        },
      ],
      ['the standard tier', 12, { tier: 'priority' }, withAsk(() => ({ tier: 'standard' }))],
      [
        'the prices of an hour before',
        8,
        { tier: 'priority' },
        withAsk(({ at: now }) => ({ at: now - hour })),
      ],
      [
        'audio as text',
        8,
        { hasAudio: true },
        withPrices((prices) => ({ ...prices, audioInput: prices.input })),
      ],
      ['no tools', 10, { searches: 6 }, withAsk(() => ({ tools: new Map() }))],
      [
        'no output',
        10,
        { output: 8 },
        (model, estimate) => [model, { ...estimate, output: () => writing(0) }],
      ],
    ]

    test.each(mutants)('%s', async (_, tokens, more, reserveAs) => {
      const steps: KilledStep[] = places.flatMap((asked) =>
        Array.from({ length: 3 }, () => ({ ...admit(asked, tokens), more })),
      )
      // One of them dies with its requests, which are charged what they have reserved.
      const history = [...steps, settle, fail, { do: 'kill', place: '3' } as const, wait]
      const layout = layouts.oneMachine
      expect(await findProblems(history, { layout })).toEqual([])
      expect(await findProblems(history, { layout, reserveAs })).toContainEqual(
        expect.stringContaining('has passed its cap'),
      )
    })
  })

  test.each([
    { how: 'and the processes connect again', unnoticed: false },
    { how: 'behind a connection that stays', unnoticed: true },
  ])(
    'hold nothing of ended requests when the server goes back in time, $how',
    async ({ unnoticed }) => {
      const world = await KilledWorld.open({
        redis,
        prefix: `back${count++}`,
        layout: layouts.oneMachine,
      })
      const [first, second] = [admit('1', 20), admitTo(keyIds[2], '2', 7)]
      const save = { do: 'save', place: '1' } as const
      for (const step of [first, second, { do: 'remember' }, settle, settle, save] as const) {
        await world.take(step)
      }
      // This one is running, and the snapshot does not have it.
      await world.take(admit('1', 5))
      await world.take({ do: 'go back', unnoticed })
      await world.take(wait)
      expect(await world.listHeld()).toEqual([
        `${keyIds[0]}: 5000, 1`,
        expect.stringMatching(/: 5000, 1$/),
      ])
      await world.end()
      expect(world.listProblems()).toEqual([])
    },
  )

  describe.each(Object.entries(layouts))('%s', (_, layout) => {
    test('leave books that agree: no cap is passed, each request is charged once, and nothing of them stays', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyStep, { minLength: 8, maxLength: 40 }), (steps) =>
          expectToAgree(steps, layout),
        ),
        { numRuns: 40 },
      )
    }, 120_000)
  })
})
