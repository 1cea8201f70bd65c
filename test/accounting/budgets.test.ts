import { describe, expect, test } from 'vitest'
import { renderError } from '../../src/core/errors.ts'
import type { GroupId, RequestId } from '../../src/core/ids.ts'
import {
  admitRequest,
  askedFacts,
  dollarModel,
  groupId,
  groupRow,
  keyId,
  keyRow,
  named,
  nano,
  refusal,
  registryWith,
  routeTo,
  usd,
} from './support.ts'

const million = 1_000_000

describe("a key's budget", () => {
  test('a running request reserves budget, and a request beyond the rest is refused with LM-4001', () => {
    const { accounts, entry } = registryWith({ budgetMax: usd(1) })
    admitRequest(accounts, 0.6 * million)
    expect(entry).toMatchObject({ spent: 0n, reserved: usd(0.6) })
    const error = refusal(() => admitRequest(accounts, 0.5 * million))
    expect(error).toMatchObject({ code: 'LM-4001', status: 402 })
    expect(error.message).toBe(
      "the key's remaining budget is below the estimated cost of this request",
    )
    expect(error.detail.retryAfter).toBeUndefined()
    admitRequest(accounts, 0.4 * million)
    expect(entry.reserved).toBe(usd(1))
  })

  test('a spent budget refuses every request, even a free one', () => {
    const { accounts } = registryWith({ budgetMax: usd(1), budgetSpent: usd(1) })
    const error = refusal(() => admitRequest(accounts, 0))
    expect(error.message).toBe("the key's budget is exhausted")
  })

  test('a request that costs more than the whole budget gets its own message', () => {
    const { accounts } = registryWith({ budgetMax: usd(1) })
    const error = refusal(() => admitRequest(accounts, 2 * million))
    expect(error.message).toBe("the key's budget is below the estimated cost of this request")
  })

  test('a request that needs exactly the rest of the budget is admitted', () => {
    const { accounts } = registryWith({ budgetMax: usd(1) })
    expect(() => admitRequest(accounts, million)).not.toThrow()
  })

  test('the error object contains the scope and the amounts in dollars', () => {
    const { accounts } = registryWith({ budgetMax: usd(1), budgetSpent: usd(0.25) })
    admitRequest(accounts, 0.5 * million + 1)
    const error = refusal(() => admitRequest(accounts, 0.5 * million))
    expect(renderError(error, 'r' as RequestId)).toEqual({
      error: {
        code: 'LM-4001',
        type: 'invalid_request',
        message: "the key's remaining budget is below the estimated cost of this request",
        param: null,
        request_id: 'r',
        scope: 'key',
        budget_max: 1,
        budget_spent: 0.25,
        reserved: 0.500001,
      },
    })
  })

  test('the budget is charged for the actual usage, not for the reservation', () => {
    const { accounts, entry } = registryWith({ budgetMax: usd(1) })
    admitRequest(accounts, 0.5 * million).settle({ cost: usd(0.75), tokens: undefined })
    expect(entry).toMatchObject({ spent: usd(0.75), reserved: 0n })
    refusal(() => admitRequest(accounts, 0.5 * million))
  })

  test('spend is counted even without a cap', () => {
    const { accounts, entry } = registryWith({})
    const admission = admitRequest(accounts, million)
    expect(entry.reserved).toBe(0n)
    admission.settle({ cost: usd(0.75), tokens: undefined })
    expect(entry.spent).toBe(usd(0.75))
  })
})

describe("a group's budget", () => {
  test('all keys of a group draw on its budget', () => {
    const { accounts, group } = registryWith({}, { budgetMax: usd(1) })
    const other = 'c'.repeat(32) as typeof keyId
    accounts.putKey(keyRow({ id: other, groupId }))
    admitRequest(accounts, 0.6 * million)
    const error = refusal(() => admitRequest(accounts, 0.5 * million, { id: other }))
    expect(error).toMatchObject({ code: 'LM-4001' })
    expect(error.message).toBe(
      "the group's remaining budget is below the estimated cost of this request",
    )
    expect(error.detail.fields).toMatchObject({ scope: 'group', budget_max: 1, reserved: 0.6 })
    expect(group?.reserved).toBe(usd(0.6))
  })

  test("the key's budget is checked before the group's", () => {
    const { accounts } = registryWith({ budgetMax: usd(1) }, { budgetMax: usd(1) })
    expect(refusal(() => admitRequest(accounts, 2 * million)).detail.fields).toMatchObject({
      scope: 'key',
    })
  })

  test('a request is charged to the key and to the group', () => {
    const { accounts, entry, group } = registryWith({}, {})
    admitRequest(accounts, million).settle({ cost: usd(0.5), tokens: undefined })
    expect([entry.spent, group?.spent]).toEqual([usd(0.5), usd(0.5)])
  })

  test('a request is charged to the group that admitted it, even if the key has left since', () => {
    const { accounts, entry, group } = registryWith({}, { budgetMax: usd(1) })
    const admission = admitRequest(accounts, 0.5 * million)
    accounts.putKey(keyRow({ groupId: null }))
    admission.settle({ cost: usd(0.25), tokens: undefined })
    expect(group).toMatchObject({ spent: usd(0.25), reserved: 0n })
    expect(entry.spent).toBe(usd(0.25))
  })

  test('a request admitted before the key joined is not charged to the group', () => {
    const { accounts, group } = registryWith({ groupId: null }, { budgetMax: usd(1) })
    const admission = admitRequest(accounts, 0.5 * million)
    accounts.putKey(keyRow({ groupId }))
    admission.settle({ cost: usd(0.25), tokens: undefined })
    expect(group).toMatchObject({ spent: 0n, reserved: 0n })
  })

  test.each([
    ['is deleted', groupRow({ budgetMax: usd(0), deletedAt: 1 })],
    ['is not known', groupRow({ id: 'e'.repeat(32) as GroupId, budgetMax: usd(0) })],
  ])('a group is neither enforced nor charged when it %s', (_, row) => {
    const { accounts, entry } = registryWith({ groupId })
    const group = accounts.putGroup(row)
    expect(accounts.createPrincipal(entry).account).toEqual({ keyId, groupId: null })
    admitRequest(accounts, million).settle({ cost: usd(1), tokens: undefined })
    expect(group.spent).toBe(0n)
  })

  test('the account of a key contains its group', () => {
    const { accounts, entry } = registryWith({}, {})
    expect(accounts.createPrincipal(entry).account).toEqual({ keyId, groupId })
  })
})

describe('the order of admission', () => {
  const all = { rpmLimit: 0, tpmLimit: 0, budgetMax: usd(0) }
  const scopeOf = (error: { code: string; detail: { fields?: object | undefined } }) => [
    error.code,
    error.detail.fields && 'scope' in error.detail.fields && error.detail.fields.scope,
  ]

  test("admission checks requests, tokens, the key's budget and the group's budget in this order", () => {
    const { accounts } = registryWith(all, { budgetMax: usd(0) })
    const next = () => scopeOf(refusal(() => admitRequest(accounts, 1)))
    expect(next()).toEqual(['LM-4002', 'key'])
    accounts.putKey(keyRow({ ...all, groupId, rpmLimit: 1 }))
    expect(next()).toEqual(['LM-4003', 'key'])
    accounts.putKey(keyRow({ ...all, groupId, rpmLimit: 1, tpmLimit: 1 }))
    expect(next()).toEqual(['LM-4001', 'key'])
    accounts.putKey(keyRow({ groupId, rpmLimit: 1, tpmLimit: 1, budgetMax: usd(1) }))
    expect(next()).toEqual(['LM-4001', 'group'])
    accounts.putGroup(groupRow({ budgetMax: usd(1) }))
    admitRequest(accounts, 1)
  })

  test('a refusal at the last check leaves no debit and no reservation', () => {
    const limits = { rpmLimit: 1, tpmLimit: 10, budgetMax: usd(1) }
    const { accounts, entry, group } = registryWith(limits, { budgetMax: nano(5_000) })
    refusal(() => admitRequest(accounts, 10))
    expect([entry.reserved, group?.reserved]).toEqual([0n, 0n])
    accounts.putGroup(groupRow({ budgetMax: usd(1) }))
    expect(named(admitRequest(accounts, 10).headers)).toMatchObject({
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-remaining-tokens': '0',
    })
  })

  test.each([
    ['no limit', {}, undefined, 0],
    ['requests a minute', { rpmLimit: 9 }, undefined, 0],
    ['a group without a cap', {}, {}, 0],
    ['tokens a minute', { tpmLimit: 9 }, undefined, 1],
    ['a budget', { budgetMax: usd(1) }, undefined, 1],
    ['a group with a cap', {}, { budgetMax: usd(1) }, 1],
    ['a limit of requests that is reached', { rpmLimit: 0, budgetMax: usd(1) }, undefined, 0],
  ])('admission estimates the usage only when a limit needs it: %s', (_, key, group, times) => {
    const { accounts, entry } = registryWith(key, group)
    let asked = 0
    const demand = () => ({ promptTokens: ++asked })
    try {
      accounts
        .createPrincipal(entry)
        .admit({ ...askedFacts, route: routeTo(dollarModel), estimate: demand })
    } catch {}
    expect(asked).toBe(times)
  })
})

describe('the end of an admission', () => {
  test('only the first settle counts', () => {
    const { accounts, entry } = registryWith({ budgetMax: usd(1), rpmLimit: 1 })
    const admission = admitRequest(accounts, 0.5 * million)
    admission.settle({ cost: usd(0.25), tokens: undefined })
    admission.settle({ cost: usd(0.5), tokens: undefined })
    admission.withdraw()
    expect(entry).toMatchObject({ spent: usd(0.25), reserved: 0n })
    refusal(() => admitRequest(accounts, 0))
  })

  test('only the first withdrawal counts', () => {
    const { accounts, entry } = registryWith({ budgetMax: usd(1), rpmLimit: 1 })
    const admission = admitRequest(accounts, 0.5 * million)
    admission.withdraw()
    admission.withdraw()
    admission.settle({ cost: usd(0.5), tokens: 7 })
    admission.adjust(usd(0.5))
    expect(entry).toMatchObject({ spent: 0n, reserved: 0n })
    admitRequest(accounts, 0)
    refusal(() => admitRequest(accounts, 0))
  })

  test('an adjustment after settle charges the difference, up or down', () => {
    const { accounts, entry, group } = registryWith({ budgetMax: usd(1) }, {})
    const admission = admitRequest(accounts, 0.5 * million)
    admission.settle({ cost: usd(0.25), tokens: undefined })
    admission.adjust(usd(0.375))
    expect([entry.spent, group?.spent]).toEqual([usd(0.375), usd(0.375)])
    admission.adjust(usd(0.125))
    expect([entry.spent, group?.spent]).toEqual([usd(0.125), usd(0.125)])
  })

  test('an adjustment before the end charges nothing', () => {
    const { accounts, entry } = registryWith({})
    const admission = admitRequest(accounts, 1)
    admission.adjust(usd(0.5))
    expect(entry.spent).toBe(0n)
    admission.settle({ cost: usd(0.25), tokens: undefined })
    expect(entry.spent).toBe(usd(0.25))
  })
})
