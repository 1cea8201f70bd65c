import { describe, expect, test } from 'vitest'
import { renderError } from '../../src/core/errors.ts'
import type { GroupId, RequestId } from '../../src/core/ids.ts'
import {
  ask,
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
  test('is reserved while a request runs, and refuses with LM-4001 what it has no room for', () => {
    const { accounts, entry } = registryWith({ budgetMax: usd(1) })
    ask(accounts, 0.6 * million)
    expect(entry).toMatchObject({ spent: 0n, reserved: usd(0.6) })
    const error = refusal(() => ask(accounts, 0.5 * million))
    expect(error).toMatchObject({ code: 'LM-4001', status: 402 })
    expect(error.message).toBe(
      "the key's remaining budget is below the estimated cost of this request",
    )
    expect(error.detail.retryAfter).toBeUndefined()
    ask(accounts, 0.4 * million)
    expect(entry.reserved).toBe(usd(1))
  })

  test('refuses everything once it is spent, even what is free', () => {
    const { accounts } = registryWith({ budgetMax: usd(1), budgetSpent: usd(1) })
    const error = refusal(() => ask(accounts, 0))
    expect(error.message).toBe("the key's budget is exhausted")
  })

  test('tells a request that alone is dearer than the whole budget', () => {
    const { accounts } = registryWith({ budgetMax: usd(1) })
    const error = refusal(() => ask(accounts, 2 * million))
    expect(error.message).toBe("the key's budget is below the estimated cost of this request")
  })

  test('admits what it has exactly enough for', () => {
    const { accounts } = registryWith({ budgetMax: usd(1) })
    ask(accounts, million)
  })

  test('tells scope and amounts in the error object, in dollars', () => {
    const { accounts } = registryWith({ budgetMax: usd(1), budgetSpent: usd(0.25) })
    ask(accounts, 0.5 * million + 1)
    const error = refusal(() => ask(accounts, 0.5 * million))
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

  test('is charged by what was used, whatever was reserved', () => {
    const { accounts, entry } = registryWith({ budgetMax: usd(1) })
    ask(accounts, 0.5 * million).settle({ cost: usd(0.75), tokens: undefined })
    expect(entry).toMatchObject({ spent: usd(0.75), reserved: 0n })
    refusal(() => ask(accounts, 0.5 * million))
  })

  test('counts also without a cap', () => {
    const { accounts, entry } = registryWith({})
    const admission = ask(accounts, million)
    expect(entry.reserved).toBe(0n)
    admission.settle({ cost: usd(0.75), tokens: undefined })
    expect(entry.spent).toBe(usd(0.75))
  })
})

describe("a group's budget", () => {
  test('is drawn on by all of its keys', () => {
    const { accounts, group } = registryWith({}, { budgetMax: usd(1) })
    const other = 'c'.repeat(32) as typeof keyId
    accounts.putKey(keyRow({ id: other, groupId }))
    ask(accounts, 0.6 * million)
    const error = refusal(() => ask(accounts, 0.5 * million, { id: other }))
    expect(error).toMatchObject({ code: 'LM-4001' })
    expect(error.message).toBe(
      "the group's remaining budget is below the estimated cost of this request",
    )
    expect(error.detail.fields).toMatchObject({ scope: 'group', budget_max: 1, reserved: 0.6 })
    expect(group?.reserved).toBe(usd(0.6))
  })

  test("refuses after the key's own budget", () => {
    const { accounts } = registryWith({ budgetMax: usd(1) }, { budgetMax: usd(1) })
    expect(refusal(() => ask(accounts, 2 * million)).detail.fields).toMatchObject({ scope: 'key' })
  })

  test('is charged together with the key', () => {
    const { accounts, entry, group } = registryWith({}, {})
    ask(accounts, million).settle({ cost: usd(0.5), tokens: undefined })
    expect([entry.spent, group?.spent]).toEqual([usd(0.5), usd(0.5)])
  })

  test('is charged by a request that it admitted, although the key has left since', () => {
    const { accounts, entry, group } = registryWith({}, { budgetMax: usd(1) })
    const admission = ask(accounts, 0.5 * million)
    accounts.putKey(keyRow({ groupId: null }))
    admission.settle({ cost: usd(0.25), tokens: undefined })
    expect(group).toMatchObject({ spent: usd(0.25), reserved: 0n })
    expect(entry.spent).toBe(usd(0.25))
  })

  test('is not charged by a request that was admitted before the key joined', () => {
    const { accounts, group } = registryWith({ groupId: null }, { budgetMax: usd(1) })
    const admission = ask(accounts, 0.5 * million)
    accounts.putKey(keyRow({ groupId }))
    admission.settle({ cost: usd(0.25), tokens: undefined })
    expect(group).toMatchObject({ spent: 0n, reserved: 0n })
  })

  test.each([
    ['is deleted', groupRow({ budgetMax: usd(0), deletedAt: 1 })],
    ['is not known', groupRow({ id: 'e'.repeat(32) as GroupId, budgetMax: usd(0) })],
  ])('is neither enforced nor charged when it %s', (_, row) => {
    const { accounts, entry } = registryWith({ groupId })
    const group = accounts.putGroup(row)
    expect(accounts.createPrincipal(entry).account).toEqual({ keyId, groupId: null })
    ask(accounts, million).settle({ cost: usd(1), tokens: undefined })
    expect(group.spent).toBe(0n)
  })

  test('stands in the account of its keys', () => {
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

  test('is requests, tokens, the budget of the key, the budget of the group', () => {
    const { accounts } = registryWith(all, { budgetMax: usd(0) })
    const next = () => scopeOf(refusal(() => ask(accounts, 1)))
    expect(next()).toEqual(['LM-4002', undefined])
    accounts.putKey(keyRow({ ...all, groupId, rpmLimit: 1 }))
    expect(next()).toEqual(['LM-4003', undefined])
    accounts.putKey(keyRow({ ...all, groupId, rpmLimit: 1, tpmLimit: 1 }))
    expect(next()).toEqual(['LM-4001', 'key'])
    accounts.putKey(keyRow({ groupId, rpmLimit: 1, tpmLimit: 1, budgetMax: usd(1) }))
    expect(next()).toEqual(['LM-4001', 'group'])
    accounts.putGroup(groupRow({ budgetMax: usd(1) }))
    ask(accounts, 1)
  })

  test('leaves no trace of a refusal at the last step', () => {
    const limits = { rpmLimit: 1, tpmLimit: 10, budgetMax: usd(1) }
    const { accounts, entry, group } = registryWith(limits, { budgetMax: nano(5_000) })
    refusal(() => ask(accounts, 10))
    expect([entry.reserved, group?.reserved]).toEqual([0n, 0n])
    accounts.putGroup(groupRow({ budgetMax: usd(1) }))
    expect(named(ask(accounts, 10).headers)).toMatchObject({
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
  ])('asks for the demand only where it is needed: %s', (_, key, group, times) => {
    const { accounts, entry } = registryWith(key, group)
    let asked = 0
    const demand = () => ({ promptTokens: ++asked })
    try {
      accounts.createPrincipal(entry).admit(routeTo(dollarModel), demand)
    } catch {}
    expect(asked).toBe(times)
  })
})

describe('the end of an admission', () => {
  test('counts once: the first settle', () => {
    const { accounts, entry } = registryWith({ budgetMax: usd(1), rpmLimit: 1 })
    const admission = ask(accounts, 0.5 * million)
    admission.settle({ cost: usd(0.25), tokens: undefined })
    admission.settle({ cost: usd(0.5), tokens: undefined })
    admission.withdraw()
    expect(entry).toMatchObject({ spent: usd(0.25), reserved: 0n })
    refusal(() => ask(accounts, 0))
  })

  test('counts once: the first withdrawal', () => {
    const { accounts, entry } = registryWith({ budgetMax: usd(1), rpmLimit: 1 })
    const admission = ask(accounts, 0.5 * million)
    admission.withdraw()
    admission.withdraw()
    admission.settle({ cost: usd(0.5), tokens: 7 })
    admission.adjust(usd(0.5))
    expect(entry).toMatchObject({ spent: 0n, reserved: 0n })
    ask(accounts, 0)
    refusal(() => ask(accounts, 0))
  })

  test('may be amended: the difference is charged, up or down', () => {
    const { accounts, entry, group } = registryWith({ budgetMax: usd(1) }, {})
    const admission = ask(accounts, 0.5 * million)
    admission.settle({ cost: usd(0.25), tokens: undefined })
    admission.adjust(usd(0.375))
    expect([entry.spent, group?.spent]).toEqual([usd(0.375), usd(0.375)])
    admission.adjust(usd(0.125))
    expect([entry.spent, group?.spent]).toEqual([usd(0.125), usd(0.125)])
  })

  test('is not an amendment: before the end it charges nothing', () => {
    const { accounts, entry } = registryWith({})
    const admission = ask(accounts, 1)
    admission.adjust(usd(0.5))
    expect(entry.spent).toBe(0n)
    admission.settle({ cost: usd(0.25), tokens: undefined })
    expect(entry.spent).toBe(usd(0.25))
  })
})
