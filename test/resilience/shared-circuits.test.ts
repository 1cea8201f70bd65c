import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Model } from '../../src/core/provider.ts'
import type { BreakerDecision, Permit } from '../../src/resilience/breaker.ts'
import { Breakers, SharedCircuits } from '../../src/resilience/index.ts'
import { addCircuits } from '../support/circuits-model.ts'
import { ManualClock, settled } from '../support/manual-clock.ts'
import { SharedServer } from '../support/shared-server.ts'

const policy = { threshold: 3, cooldown: 10_000 }
const lease = 3_000
// The breakers read only these fields.
const link = { id: 'm', provider: { name: 'p' } } as Model

/** Processes that share the circuit of one link, each with a clock of its own. */
async function group(size: number) {
  const server = new SharedServer()
  const serverClock = new ManualClock()
  addCircuits(server, () => serverClock.elapsed())
  const members = await Promise.all(
    Array.from({ length: size }, async () => {
      const clock = new ManualClock()
      const circuits = new SharedCircuits({ shared: await server.open(), clock, lease })
      const breakers = new Breakers(clock, circuits)
      breakers.retain([link])
      return { clock, breakers, isDead: false }
    }),
  )
  await settled()
  server.calls.length = 0
  type Member = (typeof members)[number]
  const breaker = (at: number) => (members[at] as Member).breakers.get(link)
  return {
    server,
    breaker,
    /** Ends a process: its timers no longer fire. */
    kill(at: number) {
      ;(members[at] as Member).isDead = true
    },
    async admit(at: number): Promise<BreakerDecision> {
      return breaker(at).admit(policy)
    },
    async fail(at: number): Promise<void> {
      breaker(at).fault(policy)
      await settled()
    },
    states: () => members.map((_, at) => breaker(at).state),
    async pass(time: number): Promise<void> {
      for (const { clock, isDead } of members) if (!isDead) await clock.advance(time)
      await serverClock.advance(time)
    },
  }
}

function permitOf(decision: BreakerDecision): Permit {
  if (!decision.admitted) throw new Error('the call is refused')
  return decision
}

describe('a circuit that several processes share', () => {
  test('the faults of all processes open it together, for all of them', async () => {
    const { fail, states, admit } = await group(3)
    await fail(0)
    await fail(1)
    expect(states()).toEqual(['closed', 'closed', 'closed'])
    await fail(2)
    expect(states()).toEqual(['open', 'open', 'open'])
    expect(await admit(0)).toMatchObject({ admitted: false, retryAfter: 10_000 })
  })

  test('a success of any process begins the count anew', async () => {
    const { fail, breaker, states } = await group(2)
    await fail(0)
    await fail(0)
    breaker(1).recover()
    await settled()
    await fail(0)
    await fail(1)
    expect(states()).toEqual(['closed', 'closed'])
  })

  test('calls to a sound provider do not call the server', async () => {
    const { admit, server } = await group(2)
    for (let turn = 0; turn < 10; turn++) permitOf(await admit(turn % 2)).success()
    await settled()
    expect(server.calls).toEqual([])
  })

  test('one process probes; its success closes the circuit for all, without their asking', async () => {
    const { fail, pass, admit, states, server } = await group(3)
    for (const at of [0, 1, 2]) await fail(at)
    await pass(10_000)
    expect(states()).toEqual(['half-open', 'half-open', 'half-open'])
    const decisions = await Promise.all([admit(0), admit(1), admit(2), admit(0)])
    const [probe, ...others] = decisions.filter(({ admitted }) => admitted)
    expect(others).toEqual([])
    expect(decisions.filter(({ admitted }) => !admitted)).toHaveLength(3)
    const calls = server.calls.length
    expect(await admit(1)).toMatchObject({ admitted: false, retryAfter: 10_000 })
    expect(server.calls).toHaveLength(calls)
    permitOf(probe as BreakerDecision).success()
    await settled()
    expect(states()).toEqual(['closed', 'closed', 'closed'])
  })

  test('a probe that fails opens the circuit for another cooldown, everywhere', async () => {
    const { fail, pass, admit, states } = await group(2)
    for (const at of [0, 1, 1]) await fail(at)
    await pass(10_000)
    permitOf(await admit(0)).failure()
    await settled()
    expect(states()).toEqual(['open', 'open'])
    expect(await admit(1)).toMatchObject({ admitted: false, retryAfter: 10_000 })
  })

  test('a stream that has begun closes the circuit on probation: one fault in any process opens it', async () => {
    const { fail, pass, admit, states } = await group(2)
    for (const at of [0, 1, 1]) await fail(at)
    await pass(10_000)
    permitOf(await admit(0)).opened()
    await settled()
    expect(states()).toEqual(['closed', 'closed'])
    await fail(1)
    expect(states()).toEqual(['open', 'open'])
  })

  test('a living probe keeps its place, that of a dead process becomes free', async () => {
    const { fail, pass, admit, kill } = await group(2)
    for (const at of [0, 1, 1]) await fail(at)
    await pass(10_000)
    permitOf(await admit(0))
    for (let turn = 0; turn < 10; turn++) await pass(1_000)
    expect(await admit(1)).toMatchObject({ admitted: false })
    kill(0)
    for (let turn = 0; turn < 3; turn++) await pass(1_000)
    expect(await admit(1)).toMatchObject({ admitted: true, isProbe: true })
  })

  test('an abandoned probe leaves its place to any process', async () => {
    const { fail, pass, admit } = await group(2)
    for (const at of [0, 1, 1]) await fail(at)
    await pass(10_000)
    permitOf(await admit(0)).abandon()
    await settled()
    expect(await admit(1)).toMatchObject({ admitted: true, isProbe: true })
  })

  test('while the server is away each process counts and probes for itself', async () => {
    const { fail, pass, admit, states, server } = await group(2)
    server.leave()
    for (const _ of [1, 2, 3]) await fail(0)
    expect(states()).toEqual(['open', 'closed'])
    await pass(10_000)
    expect(await admit(0)).toMatchObject({ admitted: true, isProbe: true })
    expect(await admit(0)).toMatchObject({ admitted: false })
  })

  test('a circuit that opened meanwhile is shared when the server is back, even an emptied one', async () => {
    const { fail, states, server } = await group(2)
    server.leave()
    for (const _ of [1, 2, 3]) await fail(0)
    server.comeBack()
    await settled()
    expect(states()).toEqual(['open', 'open'])
  })

  test('a process that missed the end of an outage learns of it from the server', async () => {
    const { fail, pass, admit, states, server } = await group(2)
    for (const at of [0, 1, 1]) await fail(at)
    await pass(10_000)
    server.losesMessages = true
    permitOf(await admit(0)).success()
    await settled()
    expect(states()).toEqual(['closed', 'half-open'])
    expect(await admit(1)).toMatchObject({ admitted: true, isProbe: false })
    expect(states()).toEqual(['closed', 'closed'])
  })
})

type Step =
  | { readonly do: 'admit' | 'fault' | 'recover'; readonly at: number }
  | { readonly do: 'pass'; readonly time: number }
  | { readonly do: 'end'; readonly how: keyof Ends; readonly which: number }

type Ends = Pick<Permit, 'success' | 'opened' | 'failure' | 'abandon'>

const at = fc.nat(2)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('admit' as const), at }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('fault' as const), at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('recover' as const), at }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), time: fc.nat(12_000) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      how: fc.constantFrom<(keyof Ends)[]>('success', 'opened', 'failure', 'abandon'),
      which: fc.nat(9),
    }),
  },
)

test('in any order of calls, at most one probe runs, and all processes agree in the end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { admit, breaker, pass, states } = await group(3)
      const running: { permit: Permit; at: number }[] = []
      for (const next of steps) {
        switch (next.do) {
          case 'admit': {
            const permit = await admit(next.at)
            if (permit.admitted) running.push({ permit, at: next.at })
            break
          }
          case 'fault':
            breaker(next.at).fault(policy)
            break
          case 'recover':
            breaker(next.at).recover()
            break
          case 'pass':
            await pass(next.time)
            break
          case 'end':
            running.splice(next.which % Math.max(1, running.length), 1)[0]?.permit[next.how]()
        }
        expect(running.filter(({ permit }) => permit.isProbe).length).toBeLessThan(2)
      }
      await settled()
      expect(new Set(states()).size).toBe(1)
    }),
    { numRuns: 60 },
  )
})
