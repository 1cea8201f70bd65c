import { describe, expect, test } from 'vitest'
import type { BudgetSubject } from '../../src/accounting/budget-observer.ts'
import { BudgetAlerts } from '../../src/accounting/index.ts'
import type { AccountEvent } from '../../src/core/account-event.ts'
import type { NanoUsd } from '../../src/core/ids.ts'
import { ManualClock } from '../support/manual-clock.ts'

/** A watch over one key, with the events it has caused. */
function watch(percentages: readonly number[] = [50, 80, 95]) {
  const events: AccountEvent[] = []
  const current = { percentages }
  const clock = new ManualClock(1_764_000_000_999)
  const thresholds = new BudgetAlerts({
    clock,
    percentages: () => current.percentages,
    notify: (event) => events.push(event),
  })
  /** What was told since this was last asked. */
  const told = () => events.splice(0).map(({ type, threshold }) => threshold ?? type)
  return { thresholds, events, told, current, clock }
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
  test('is told when a charge reaches it exactly, with the subject as it stands', () => {
    const { thresholds, events } = watch()
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

  test('is told at the nano-dollar, however large the budget', () => {
    const { thresholds, told } = watch([50])
    const max = 1_000_000_000_000_000_000_000n
    thresholds.charged(key(max / 2n - 1n, max))
    expect(told()).toEqual([])
    thresholds.charged(key(max / 2n, max))
    expect(told()).toEqual([50])
  })

  test('is told once, however much is charged afterwards', () => {
    const { thresholds, told } = watch()
    for (let spent = 50; spent < 80; spent++) thresholds.charged(key(spent))
    expect(told()).toEqual([50])
  })

  test('that is passed together with others is told by itself, the lowest first', () => {
    const { thresholds, told } = watch()
    thresholds.charged(key(130))
    expect(told()).toEqual([50, 80, 95])
  })

  test('is not told again when a correction takes spend back', () => {
    const { thresholds, told } = watch()
    thresholds.charged(key(55))
    thresholds.charged(key(45))
    thresholds.charged(key(55))
    expect(told()).toEqual([50])
  })

  test('is armed again by a cap that lowers the ratio under it, and no other is', () => {
    const { thresholds, told } = watch()
    thresholds.charged(key(85))
    expect(told()).toEqual([50, 80])
    thresholds.changed(key(85, 150))
    expect(told()).toEqual([])
    thresholds.charged(key(125, 150))
    expect(told()).toEqual([80])
  })

  test('that is exactly reached after a grant is not armed again', () => {
    const { thresholds, told } = watch([50])
    thresholds.charged(key(60))
    thresholds.changed(key(60, 120))
    thresholds.charged(key(61, 120))
    expect(told()).toEqual([50])
  })

  test('stays told when the cap is lowered, also when spend was taken back before', () => {
    const { thresholds, told } = watch()
    thresholds.charged(key(85))
    thresholds.charged(key(40))
    thresholds.changed(key(40, 90))
    thresholds.charged(key(50, 90))
    expect(told()).toEqual([50, 80])
  })

  test('that a lower cap puts behind the subject is told by the next charge', () => {
    const { thresholds, told } = watch()
    thresholds.charged(key(55))
    thresholds.changed(key(55, 60))
    expect(told()).toEqual([50])
    thresholds.charged(key(56, 60))
    expect(told()).toEqual([80])
  })

  test('stays told when only the name changes', () => {
    const { thresholds, told } = watch()
    thresholds.charged(key(55))
    thresholds.charged(key(45))
    thresholds.changed(key(45, 100, 'team b'))
    thresholds.charged(key(55))
    expect(told()).toEqual([50])
  })

  test('that is configured when it is passed already waits for the next epoch', () => {
    const { thresholds, told, current } = watch([90])
    thresholds.charged(key(60))
    current.percentages = [50, 70]
    thresholds.charged(key(61))
    expect(told()).toEqual([])
    thresholds.charged(key(71))
    expect(told()).toEqual([70])
    thresholds.changed(key(71, 200))
    thresholds.charged(key(100, 200))
    expect(told()).toEqual([50])
  })

  test('counts as told after a start with that much spent', () => {
    const { thresholds, told } = watch()
    thresholds.loaded(key(80))
    thresholds.charged(key(81))
    expect(told()).toEqual([])
    thresholds.charged(key(95))
    expect(told()).toEqual([95])
  })

  test('is told again after a start that knows of less', () => {
    const before = watch()
    before.thresholds.charged(key(52))
    const after = watch()
    after.thresholds.loaded(key(48))
    after.thresholds.charged(key(52))
    expect([before.told(), after.told()]).toEqual([[50], [50]])
  })
})

describe('without a ratio', () => {
  test('a subject without a cap is never told of', () => {
    const { thresholds, told } = watch()
    const uncapped = key(1_000_000, null)
    thresholds.loaded(uncapped)
    thresholds.charged(uncapped)
    thresholds.refused(uncapped)
    thresholds.changed(uncapped)
    expect(told()).toEqual([])
  })

  test('a cap that is taken away and set again begins a new epoch', () => {
    const { thresholds, told } = watch([50])
    thresholds.charged(key(60))
    thresholds.changed(key(60, null))
    thresholds.changed(key(60))
    thresholds.charged(key(61))
    expect(told()).toEqual([50, 50])
  })

  test('of a cap of 0 the first nano-dollar is all, and nothing spent is nothing', () => {
    const { thresholds, told } = watch([1, 100])
    thresholds.charged(key(0, 0))
    expect(told()).toEqual([])
    thresholds.charged(key(1, 0))
    expect(told()).toEqual([1, 100])
  })

  test('spend that corrections have made negative is nothing', () => {
    const { thresholds, told } = watch([1])
    thresholds.charged(key(-5))
    thresholds.charged(key(1))
    expect(told()).toEqual([1])
  })
})

describe('exhaustion', () => {
  test('is told at the first refusal, and not at those that follow', () => {
    const { thresholds, events } = watch()
    for (let round = 0; round < 3; round++) thresholds.refused(key(100))
    expect(events).toMatchObject([{ type: 'budget.exhausted', threshold: null, budgetSpent: 100n }])
  })

  test('is told again after a grant that gives headroom', () => {
    const { thresholds, told } = watch()
    thresholds.refused(key(100))
    thresholds.changed(key(100, 101))
    thresholds.refused(key(101, 101))
    expect(told()).toEqual(['budget.exhausted', 'budget.exhausted'])
  })

  test('is not told again after a grant that gives none', () => {
    const { thresholds, told } = watch()
    thresholds.refused(key(120))
    thresholds.changed(key(120, 120))
    thresholds.refused(key(120, 120))
    expect(told()).toEqual(['budget.exhausted'])
  })

  test('fires again after an admitted request, once a minute is over', async () => {
    const { thresholds, told, clock } = watch([])
    thresholds.refused(key(0))
    expect(told()).toEqual(['budget.exhausted'])
    thresholds.admitted(key(0))
    thresholds.charged(key(99))
    await clock.advance(59_999)
    thresholds.refused(key(99))
    expect(told()).toEqual([])
    await clock.advance(1)
    thresholds.refused(key(99))
    expect(told()).toEqual(['budget.exhausted'])
    await clock.advance(600_000)
    thresholds.refused(key(99))
    expect(told()).toEqual([])
  })

  test('fires at most once a minute, however many requests are admitted between refusals', async () => {
    const { thresholds, told, clock } = watch([])
    for (let second = 0; second < 180; second++) {
      thresholds.refused(key(99))
      thresholds.admitted(key(99))
      await clock.advance(1_000)
    }
    expect(told()).toEqual(['budget.exhausted', 'budget.exhausted', 'budget.exhausted'])
  })

  test('fires again at once after a grant, also within the minute', () => {
    const { thresholds, told } = watch([])
    thresholds.refused(key(100))
    thresholds.changed(key(100, 101))
    thresholds.admitted(key(100, 101))
    thresholds.refused(key(101, 101))
    expect(told()).toEqual(['budget.exhausted', 'budget.exhausted'])
  })

  test('of one subject is not armed by an admitted request of another', async () => {
    const { thresholds, told, clock } = watch([])
    thresholds.refused(key(100))
    thresholds.admitted({ ...key(0), scope: 'group' })
    await clock.advance(60_000)
    thresholds.refused(key(100))
    expect(told()).toEqual(['budget.exhausted'])
  })

  test('is not told again after a lower cap or another name', () => {
    const { thresholds, told } = watch()
    thresholds.refused(key(50))
    thresholds.changed(key(50, 90))
    thresholds.changed(key(50, 90, 'team b'))
    thresholds.refused(key(50, 90))
    expect(told()).toEqual(['budget.exhausted'])
  })

  test('of a cap of 0 is told', () => {
    const { thresholds, told } = watch()
    thresholds.refused(key(0, 0))
    expect(told()).toEqual(['budget.exhausted'])
  })
})

test('a key and a group of the same id are two subjects', () => {
  const { thresholds, events } = watch([50])
  thresholds.charged(key(60))
  thresholds.charged({ ...key(60), scope: 'group' })
  expect(events.map(({ scope }) => scope)).toEqual(['key', 'group'])
})
