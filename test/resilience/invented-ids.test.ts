import { describe, expect, test } from 'vitest'
import type { Model, Provider, UsableCredential } from '../../src/core/provider.ts'
import { Breakers, ParkedInProcess } from '../../src/resilience/index.ts'
import { TrafficInProcess } from '../../src/routing/index.ts'
import { ManualClock } from '../support/manual-clock.ts'

const policy = { threshold: 1, cooldown: 10_000 }
const provider = { name: 'p' } as Provider
// What keeps state by link reads only these fields.
const invent = (id: string) =>
  ({ id, provider, match: { pattern: 'lab/*', isListed: false } }) as Model
const names = (count: number) => Array.from({ length: count }, (_, at) => `lab/${at}`)

describe('clients invent ids that a pattern serves', () => {
  test('the circuits of the last 1,000 are kept, those with faults before those without', () => {
    const breakers = new Breakers(new ManualClock())
    breakers.get(invent('lab/broken')).fault(policy)
    for (const id of names(5_000)) breakers.get(invent(id))
    expect([...breakers.states()]).toHaveLength(1_000)
    expect(breakers.getState(invent('lab/broken'))).toBe('open')
    expect(breakers.getState(invent('lab/1'))).toBe('closed')
    for (const id of names(5_000)) breakers.get(invent(id)).fault(policy)
    expect([...breakers.states()]).toHaveLength(1_000)
    expect(breakers.getState(invent('lab/4999'))).toBe('open')
  })

  test('a reload drops the circuits and the traffic of what no pattern serves any longer', () => {
    const breakers = new Breakers(new ManualClock())
    const traffic = new TrafficInProcess(new ManualClock())
    for (const id of names(3)) {
      breakers.get(invent(id)).fault(policy)
      traffic.begin(invent(id), true)
    }
    const findMatch = (_: string, id: string) =>
      id === 'lab/1' ? { pattern: 'lab/*', isListed: false } : undefined
    breakers.retain([], findMatch)
    traffic.retain([], findMatch)
    expect([...breakers.states()]).toEqual([{ provider: 'p', model: 'lab/1', state: 'open' }])
    expect([...traffic.listInFlight()].map(({ model }) => model)).toEqual(['lab/1', 'lab/1'])
  })

  test('the traffic of the last 1,000 is kept, running requests first', () => {
    const traffic = new TrafficInProcess(new ManualClock())
    const running = traffic.begin(invent('lab/running'), true)
    for (const id of names(5_000)) traffic.begin(invent(id), true).end()
    expect(traffic.countInFlight(invent('lab/running'))).toBe(1)
    expect([...traffic.listInFlight()]).toHaveLength(2_000)
    running.end()
    expect(traffic.countInFlight(invent('lab/running'))).toBe(0)
  })

  test('a key is parked for at most 1,000 of them, and stays parked for all models', () => {
    const parked = new ParkedInProcess()
    const credential = {} as UsableCredential
    const park = (model: string) =>
      parked.park(credential, provider, { model, cause: 'refused', until: 1, refusals: 1 })
    park('')
    for (const id of names(5_000)) park(id)
    const models = Array.from(parked.list(credential), ({ model }) => model)
    expect(models).toHaveLength(1_000)
    expect(models).toContain('')
    expect(models).toContain('lab/4999')
  })
})
