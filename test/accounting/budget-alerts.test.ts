import { describe, expect, test } from 'vitest'
import type { BudgetSubject } from '../../src/accounting/budget-observer.ts'
import { BudgetAlerts } from '../../src/accounting/index.ts'
import type { AccountEvent } from '../../src/core/account-event.ts'
import type { NanoUsd } from '../../src/core/ids.ts'
import { ManualClock } from '../support/manual-clock.ts'

/** Opens alerts for one key and records its events. */
function openAlerts(percentages: readonly number[] = [50, 80, 95]) {
  const events: AccountEvent[] = []
  const current = { percentages }
  const clock = new ManualClock(1_764_000_000_999)
  const thresholds = new BudgetAlerts({
    clock,
    percentages: () => current.percentages,
    notify: (event) => events.push(event),
  })
  /** Returns the events since the last call. */
  const fired = () => events.splice(0).map(({ type, threshold }) => threshold ?? type)
  return { thresholds, events, fired, current, clock }
}

function key(
  spent: number | bigint,
  max: number | bigint | null = 100,
  name = 'team a',
): BudgetSubject {
  return {
    scope: 'key',
    record: {
      id: 'k1',
      name,
      budgetMax: max === null ? null : (BigInt(max) as NanoUsd),
    },
    spent: BigInt(spent) as NanoUsd,
  }
}

describe('a percentage', () => {
  test('a percentage fires when a charge reaches it exactly, with the current state of the subject', () => {
    const { thresholds, events } = openAlerts()
    thresholds.charged(key(49))
    expect(events).toEqual([])
    thresholds.charged(key(50))
    expect(events).toEqual([
      {
        type: 'budget.threshold',
        scope: 'key',
        subjectId: 'k1',
        name: 'team a',
        budgetMax: 100n,
        budgetSpent: 50n,
        threshold: 50,
        timestamp: 1_764_000_000,
      },
    ])
  })

  test('a percentage fires at the exact nano-dollar even of a very large budget', () => {
    const { thresholds, fired } = openAlerts([50])
    const max = 1_000_000_000_000_000_000_000n
    thresholds.charged(key(max / 2n - 1n, max))
    expect(fired()).toEqual([])
    thresholds.charged(key(max / 2n, max))
    expect(fired()).toEqual([50])
  })

  test('a percentage fires once, no matter how much is charged afterwards', () => {
    const { thresholds, fired } = openAlerts()
    for (let spent = 50; spent < 80; spent++) thresholds.charged(key(spent))
    expect(fired()).toEqual([50])
  })

  test('a charge that crosses several percentages fires one event for each, the lowest first', () => {
    const { thresholds, fired } = openAlerts()
    thresholds.charged(key(130))
    expect(fired()).toEqual([50, 80, 95])
  })

  test('a percentage does not fire again after a correction has reduced the spend', () => {
    const { thresholds, fired } = openAlerts()
    thresholds.charged(key(55))
    thresholds.charged(key(45))
    thresholds.charged(key(55))
    expect(fired()).toEqual([50])
  })

  test('a higher cap arms exactly the percentages that are above the spend again', () => {
    const { thresholds, fired } = openAlerts()
    thresholds.charged(key(85))
    expect(fired()).toEqual([50, 80])
    thresholds.changed(key(85, 150))
    expect(fired()).toEqual([])
    thresholds.charged(key(125, 150))
    expect(fired()).toEqual([80])
  })

  test('a percentage that the spend equals exactly after a grant is not armed again', () => {
    const { thresholds, fired } = openAlerts([50])
    thresholds.charged(key(60))
    thresholds.changed(key(60, 120))
    thresholds.charged(key(61, 120))
    expect(fired()).toEqual([50])
  })

  test('a lower cap does not arm a percentage, even after a correction has reduced the spend', () => {
    const { thresholds, fired } = openAlerts()
    thresholds.charged(key(85))
    thresholds.charged(key(40))
    thresholds.changed(key(40, 90))
    thresholds.charged(key(50, 90))
    expect(fired()).toEqual([50, 80])
  })

  test('a percentage that a lower cap puts behind the spend fires on the next charge', () => {
    const { thresholds, fired } = openAlerts()
    thresholds.charged(key(55))
    thresholds.changed(key(55, 60))
    expect(fired()).toEqual([50])
    thresholds.charged(key(56, 60))
    expect(fired()).toEqual([80])
  })

  test('a new name does not arm a percentage', () => {
    const { thresholds, fired } = openAlerts()
    thresholds.charged(key(55))
    thresholds.charged(key(45))
    thresholds.changed(key(45, 100, 'team b'))
    thresholds.charged(key(55))
    expect(fired()).toEqual([50])
  })

  test('a newly configured percentage that spend has already passed fires only after a higher cap', () => {
    const { thresholds, fired, current } = openAlerts([90])
    thresholds.charged(key(60))
    current.percentages = [50, 70]
    thresholds.charged(key(61))
    expect(fired()).toEqual([])
    thresholds.charged(key(71))
    expect(fired()).toEqual([70])
    thresholds.changed(key(71, 200))
    thresholds.charged(key(100, 200))
    expect(fired()).toEqual([50])
  })

  test('a percentage that the stored spend has reached counts as fired after a start', () => {
    const { thresholds, fired } = openAlerts()
    thresholds.loaded(key(80))
    thresholds.charged(key(81))
    expect(fired()).toEqual([])
    thresholds.charged(key(95))
    expect(fired()).toEqual([95])
  })

  test('a percentage fires again after a start with a lower stored spend', () => {
    const before = openAlerts()
    before.thresholds.charged(key(52))
    const after = openAlerts()
    after.thresholds.loaded(key(48))
    after.thresholds.charged(key(52))
    expect([before.fired(), after.fired()]).toEqual([[50], [50]])
  })
})

describe('without a ratio', () => {
  test('a subject without a cap fires no events', () => {
    const { thresholds, fired } = openAlerts()
    const uncapped = key(1_000_000, null)
    thresholds.loaded(uncapped)
    thresholds.charged(uncapped)
    thresholds.refused(uncapped)
    thresholds.changed(uncapped)
    expect(fired()).toEqual([])
  })

  test('removing a cap and setting it again arms all percentages', () => {
    const { thresholds, fired } = openAlerts([50])
    thresholds.charged(key(60))
    thresholds.changed(key(60, null))
    thresholds.changed(key(60))
    thresholds.charged(key(61))
    expect(fired()).toEqual([50, 50])
  })

  test('with a cap of 0 the first nano-dollar is 100 percent, and no spend is 0 percent', () => {
    const { thresholds, fired } = openAlerts([1, 100])
    thresholds.charged(key(0, 0))
    expect(fired()).toEqual([])
    thresholds.charged(key(1, 0))
    expect(fired()).toEqual([1, 100])
  })

  test('negative spend after corrections counts as 0 percent', () => {
    const { thresholds, fired } = openAlerts([1])
    thresholds.charged(key(-5))
    thresholds.charged(key(1))
    expect(fired()).toEqual([1])
  })
})

describe('exhaustion', () => {
  test('exhaustion fires at the first refusal and not at the following ones', () => {
    const { thresholds, events } = openAlerts()
    for (let round = 0; round < 3; round++) thresholds.refused(key(100))
    expect(events).toMatchObject([{ type: 'budget.exhausted', threshold: null, budgetSpent: 100n }])
  })

  test('exhaustion fires again after a grant that gives headroom', () => {
    const { thresholds, fired } = openAlerts()
    thresholds.refused(key(100))
    thresholds.changed(key(100, 101))
    thresholds.refused(key(101, 101))
    expect(fired()).toEqual(['budget.exhausted', 'budget.exhausted'])
  })

  test('exhaustion does not fire again after a grant that gives no headroom', () => {
    const { thresholds, fired } = openAlerts()
    thresholds.refused(key(120))
    thresholds.changed(key(120, 120))
    thresholds.refused(key(120, 120))
    expect(fired()).toEqual(['budget.exhausted'])
  })

  test('exhaustion fires again after an admitted request when a minute has passed', async () => {
    const { thresholds, fired, clock } = openAlerts([])
    thresholds.refused(key(0))
    expect(fired()).toEqual(['budget.exhausted'])
    thresholds.admitted(key(0))
    thresholds.charged(key(99))
    await clock.advance(59_999)
    thresholds.refused(key(99))
    expect(fired()).toEqual([])
    await clock.advance(1)
    thresholds.refused(key(99))
    expect(fired()).toEqual(['budget.exhausted'])
    await clock.advance(600_000)
    thresholds.refused(key(99))
    expect(fired()).toEqual([])
  })

  test('exhaustion fires at most once per minute, no matter how many requests are admitted in between', async () => {
    const { thresholds, fired, clock } = openAlerts([])
    for (let second = 0; second < 180; second++) {
      thresholds.refused(key(99))
      thresholds.admitted(key(99))
      await clock.advance(1_000)
    }
    expect(fired()).toEqual(['budget.exhausted', 'budget.exhausted', 'budget.exhausted'])
  })

  test('exhaustion fires again right after a grant, even within the minute', () => {
    const { thresholds, fired } = openAlerts([])
    thresholds.refused(key(100))
    thresholds.changed(key(100, 101))
    thresholds.admitted(key(100, 101))
    thresholds.refused(key(101, 101))
    expect(fired()).toEqual(['budget.exhausted', 'budget.exhausted'])
  })

  test('an admitted request of one subject does not arm the exhaustion of another', async () => {
    const { thresholds, fired, clock } = openAlerts([])
    thresholds.refused(key(100))
    thresholds.admitted({ ...key(0), scope: 'group' })
    await clock.advance(60_000)
    thresholds.refused(key(100))
    expect(fired()).toEqual(['budget.exhausted'])
  })

  test('exhaustion does not fire again after a lower cap or a new name', () => {
    const { thresholds, fired } = openAlerts()
    thresholds.refused(key(50))
    thresholds.changed(key(50, 90))
    thresholds.changed(key(50, 90, 'team b'))
    thresholds.refused(key(50, 90))
    expect(fired()).toEqual(['budget.exhausted'])
  })

  test('exhaustion fires for a cap of 0', () => {
    const { thresholds, fired } = openAlerts()
    thresholds.refused(key(0, 0))
    expect(fired()).toEqual(['budget.exhausted'])
  })
})

test('a key and a group with the same id are separate subjects', () => {
  const { thresholds, events } = openAlerts([50])
  thresholds.charged(key(60))
  thresholds.charged({ ...key(60), scope: 'group' })
  expect(events.map(({ scope }) => scope)).toEqual(['key', 'group'])
})
