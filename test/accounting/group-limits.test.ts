import { describe, expect, test } from 'vitest'
import type { KeyId } from '../../src/core/ids.ts'
import {
  admitRequest,
  groupId,
  groupRow,
  keyRow,
  named,
  nano,
  refusal,
  registryWith,
  usd,
} from './support.ts'

const minute = 60_000
const otherId = 'c'.repeat(32) as KeyId

/** A registry with two keys in one group. */
function pool(group: Parameters<typeof groupRow>[0], key: Parameters<typeof keyRow>[0] = {}) {
  const { accounts, clock } = registryWith(key, group)
  accounts.putKey(keyRow({ id: otherId, digest: 'e'.repeat(64), groupId }))
  return { accounts, clock }
}

const other = { id: otherId }

describe('the limits of a group', () => {
  test('its keys share its requests per minute', async () => {
    const { accounts, clock } = pool({ rpmLimit: 2 })
    admitRequest(accounts, 1)
    admitRequest(accounts, 1, other)
    const error = refusal(() => admitRequest(accounts, 1))
    expect(error).toMatchObject({ code: 'LM-4002', detail: { fields: { scope: 'group' } } })
    expect(error.message).toBe("the group's limit of 2 requests per minute is reached")
    await clock.advance(error.detail.retryAfter ?? 0)
    admitRequest(accounts, 1)
  })

  test('its keys share its tokens per minute, which are corrected to the real usage', () => {
    const { accounts } = pool({ tpmLimit: 100 })
    admitRequest(accounts, 90).settle({ cost: nano(0), tokens: 30 })
    admitRequest(accounts, 60, other)
    const error = refusal(() => admitRequest(accounts, 11))
    expect(error).toMatchObject({ code: 'LM-4003', detail: { fields: { scope: 'group' } } })
    expect(error.message).toBe(
      "the group's limit of 100 tokens per minute is reached: this request needs 11",
    )
    admitRequest(accounts, 10)
  })

  test('a withdrawn request gives back what it took from both', () => {
    const { accounts } = pool({ rpmLimit: 1, tpmLimit: 10 }, { rpmLimit: 1, tpmLimit: 10 })
    admitRequest(accounts, 10).withdraw()
    expect(() => admitRequest(accounts, 10)).not.toThrow()
  })

  test('a request that ends in a later minute corrects nothing there', async () => {
    const { accounts, clock } = pool({ tpmLimit: 100 })
    const early = admitRequest(accounts, 80)
    await clock.advance(minute)
    admitRequest(accounts, 80)
    early.settle({ cost: nano(0), tokens: 1 })
    expect(refusal(() => admitRequest(accounts, 21)).code).toBe('LM-4003')
  })

  test('a key that joins another group counts there from then on', () => {
    const { accounts } = pool({ rpmLimit: 1 })
    admitRequest(accounts, 1)
    accounts.putKey(keyRow())
    admitRequest(accounts, 1)
    accounts.putKey(keyRow({ groupId }))
    expect(refusal(() => admitRequest(accounts, 1)).code).toBe('LM-4002')
  })
})

test('admission checks the key before its group at every step, and a refusal takes nothing', () => {
  const none = { rpmLimit: 0, tpmLimit: 0, maxParallel: 0, budgetMax: usd(0) }
  const steps = [
    ['rpmLimit', 1, 'LM-4002'],
    ['tpmLimit', 1, 'LM-4003'],
    ['maxParallel', 1, 'LM-4006'],
    ['budgetMax', nano(1_000), 'LM-4001'],
  ] as const
  let [key, group] = [keyRow({ ...none, groupId }), groupRow(none)]
  const { accounts } = registryWith(key, group)
  const next = () => {
    const { code, detail } = refusal(() => admitRequest(accounts, 1))
    return [code, detail.fields?.['scope']]
  }
  for (const [field, enough, code] of steps) {
    expect(next()).toEqual([code, 'key'])
    key = { ...key, [field]: enough }
    accounts.putKey(key)
    expect(next()).toEqual([code, 'group'])
    group = { ...group, [field]: enough }
    accounts.putGroup(group)
  }
  admitRequest(accounts, 1)
})

describe('the headers of a key in a group show the limit that has less left', () => {
  test.each([
    ['the key', { rpmLimit: 5 }, { rpmLimit: 9 }, ['5', '4']],
    ['the group', { rpmLimit: 9 }, { rpmLimit: 5 }, ['5', '4']],
    ['the group, when only it has a limit', {}, { rpmLimit: 5 }, ['5', '4']],
    ['the key, when both have the same left', { rpmLimit: 6 }, { rpmLimit: 7 }, ['6', '5']],
  ])('%s', (_, key, group, [limit, remaining]) => {
    const { accounts } = pool(group, key)
    if (group.rpmLimit === 7) admitRequest(accounts, 1, other)
    expect(named(admitRequest(accounts, 1).headers)).toEqual({
      'x-ratelimit-limit-requests': limit,
      'x-ratelimit-remaining-requests': remaining,
    })
  })

  test('requests and tokens are compared apart, in refusals too', () => {
    const { accounts } = pool({ rpmLimit: 1, tpmLimit: 1_000 }, { rpmLimit: 9, tpmLimit: 100 })
    admitRequest(accounts, 30)
    expect(named(refusal(() => admitRequest(accounts, 1)).detail.headers)).toEqual({
      'x-ratelimit-limit-requests': '1',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-limit-tokens': '100',
      'x-ratelimit-remaining-tokens': '70',
    })
  })
})
