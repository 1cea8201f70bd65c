import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { GroupChange, KeyChange } from '../../src/store/index.ts'
import type { StoreTrouble } from '../support/memory-store.ts'
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts'
import { openSimulatedState } from '../support/simulated-redis.ts'
import { groupIds, keyIds, Simulation, start } from './simulation.ts'
import type { Step } from './simulation-step.ts'
import { nano, RecordingLog } from './support.ts'

const anyKey = fc.constantFrom(...keyIds)
const anyGroup = fc.constantFrom(...groupIds)
const at = fc.nat(9)
const money = (most: number) => fc.nat(most).map(nano)
const cap = fc.option(money(400), { nil: null, freq: 4 })
const anyDemand = fc.record({
  prompt: fc.nat(40),
  output: fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined }),
  choices: fc.integer({ min: 1, max: 2 }),
  tier: fc.option(fc.constant('priority' as const), { nil: undefined, freq: 3 }),
  hasAudio: fc.boolean(),
  searches: fc.constantFrom(0, 0, 1, 2),
})
const anyUse = fc.record({ percent: fc.nat(120), isAsked: fc.boolean() })
const anyModel = fc.constantFrom('m', 'gpt-4', 'gpt-4.1', 'gpt-40')
const anyModels = fc.option(
  fc.array(fc.constantFrom('m', 'gpt-4.*', 'gpt-4', 'gpt-*', '*'), { minLength: 1, maxLength: 2 }),
  { nil: null, freq: 3 },
)
/** Unix seconds near the start of the simulation. */
const anyExpiry = fc.option(
  fc.integer({ min: 0, max: 200 }).map((seconds) => Math.floor(start / 1000) + seconds),
  { nil: null },
)
const limit = (most: number) => fc.option(fc.nat(most), { nil: null })
const limitChanges = [
  fc.record({ budgetMax: cap }),
  fc.record({ rpmLimit: limit(4) }),
  fc.record({ tpmLimit: limit(200) }),
  fc.record({ maxParallel: limit(3) }),
  fc.record({ models: anyModels }),
]
const anyGroupChange: fc.Arbitrary<GroupChange> = fc.oneof(...limitChanges)
const anyChange: fc.Arbitrary<KeyChange> = fc.oneof(
  ...limitChanges,
  fc.record({ groupId: fc.option(anyGroup, { nil: null }) }),
  fc.record({ disabled: fc.constantFrom(false, false, true) }),
  fc.record({ expiresAt: anyExpiry }),
)

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('admit' as const),
      key: anyKey,
      age: fc.constantFrom(0, 0, 0, 0, 1, 2),
      model: anyModel,
      demand: anyDemand,
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      at,
      use: anyUse,
      tokens: fc.option(fc.nat(90), { nil: undefined }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('withdraw' as const), at }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('adjust' as const), at, use: anyUse }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('record' as const), at }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('change key' as const),
      key: anyKey,
      change: anyChange,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('change group' as const),
      group: anyGroup,
      change: anyGroupChange,
    }),
  },
  fc.record({ do: fc.constant('grant key' as const), key: anyKey, amount: money(100) }),
  fc.record({ do: fc.constant('grant group' as const), group: anyGroup, amount: money(100) }),
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('change period' as const),
      id: fc.constantFrom(...keyIds, ...groupIds),
      period: fc.constantFrom('day' as const, 'week' as const, 'month' as const, null),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('jump' as const), days: fc.constantFrom(0, 1, 5, 40) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('rotate' as const),
      key: anyKey,
      grace: fc.constantFrom(0, 20, 100, 604_800),
    }),
  },
  fc.record({ do: fc.constant('delete key' as const), key: anyKey }),
  fc.record({ do: fc.constant('delete group' as const), group: anyGroup }),
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('flush' as const),
      trouble: fc.constantFrom<StoreTrouble>('none', 'refuse', 'lose-answer'),
      wait: fc.boolean(),
    }),
  },
  fc.record({ do: fc.constant('reload' as const) }),
  fc.record({ do: fc.constant('wait' as const), time: fc.integer({ min: 1, max: 70_000 }) }),
)

const title =
  'in any order of events the plain model lets in, refuses and counts alike, no budget is reserved twice, no nano-dollar is lost or doubled, and the saved spend is the sum of the saved rows'

/** Runs this many histories, each in a world of its own. */
async function expectAgreement(numRuns: number, open: () => Promise<Simulation>): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 10, maxLength: 80 }), async (steps) => {
      const world = await open()
      await world.begin()
      for (const step of steps) {
        await world.take(step)
        world.check()
        world.checkSaved()
      }
      await world.end()
    }),
    { numRuns },
  )
}

test(`in memory: ${title}`, () => expectAgreement(2_000, async () => new Simulation()), 240_000)

describe.skipIf(!hasRedis)('with two processes that share a Redis server', () => {
  let redis: RedisServer

  beforeAll(async () => {
    redis = await startRedis()
  })

  afterAll(() => redis.stop())

  test(title, async () => {
    let histories = 0
    await expectAgreement(300, async () => {
      const state = await openSimulatedState(redis, `history${histories++}`, new RecordingLog())
      return new Simulation(state)
    })
  }, 240_000)
})
