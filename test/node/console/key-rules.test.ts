import { describe, expect, test } from 'vitest'
import {
  type ListedKey,
  matchesFilter,
  readSorting,
  sortAccounts,
  toggleSorting,
} from '../../../adapters/node/console/page/account-list.ts'
import { formatDate } from '../../../adapters/node/console/page/format.ts'
import { describeKey, findRefused } from '../../../adapters/node/console/page/key-states.ts'
import { findUnknown } from '../../../adapters/node/console/page/model-lists.ts'
import type { Key, RecentRequest } from '../../../adapters/node/console/page/shapes.ts'

const now = 1_764_000_000

function keyOf(members: Partial<Key> = {}): Key {
  return {
    id: 'a'.repeat(32),
    name: 'service',
    models: null,
    budget_max: null,
    budget_period: null,
    budget_spent: 0,
    budget_resets_at: null,
    spent_total: 0,
    rpm_limit: null,
    tpm_limit: null,
    max_parallel: null,
    priority: null,
    created_at: now - 1000,
    group_id: null,
    expires_at: null,
    disabled: false,
    ...members,
  }
}

describe('the state of a key', () => {
  const group = { ...keyOf(), id: 'g', budget_max: 1, budget_spent: 1 }
  const refused = new Set(['refused'])
  const hours = 3600

  test.each([
    [{}, 'active', 'active'],
    [{ expires_at: now + 1 }, 'active', `until ${formatDate(now + 1)}`],
    [{ expires_at: now }, 'expired', `expired ${formatDate(now)}`],
    [{ budget_max: 1, budget_spent: 0.99 }, 'active', 'active'],
    [{ budget_max: 1, budget_spent: 1 }, 'spent', 'budget spent'],
    [{ budget_max: 0 }, 'spent', 'budget spent'],
    [{ group_id: 'g' }, 'spent', 'group budget spent'],
    [{ id: 'refused', budget_max: 1 }, 'spent', 'over budget'],
    [{ disabled: true, budget_max: 0, expires_at: now - 1 }, 'disabled', 'disabled'],
    [{ name: 'console', expires_at: now - 1000 + 12 * hours }, 'console', 'of the console'],
    [
      { name: 'console', expires_at: now + 30 * 24 * hours },
      'active',
      `until ${formatDate(now + 30 * 24 * hours)}`,
    ],
    [{ name: 'console' }, 'active', 'active'],
  ] as const)('%j is %s', (members, name, word) => {
    const state = describeKey(keyOf(members), { groups: [group], refused, now })
    expect(state).toMatchObject({ name, word })
  })

  test('a key is refused when its latest request was, and no longer once one is served', () => {
    const request = (key: string | null, code: string | null) =>
      ({ key_id: key, error_code: code }) as RecentRequest
    const requests = [
      request('a', null),
      request('a', 'LM-4001'),
      request(null, 'LM-4004'),
      request('b', 'LM-4001'),
      request('b', null),
      request('c', 'LM-4002'),
    ]
    expect([...findRefused(requests)]).toEqual(['b'])
  })
})

describe('the list of keys', () => {
  const rowOf = (members: Partial<Key>, rest: Partial<ListedKey> = {}): ListedKey => {
    const account = keyOf(members)
    const state = describeKey(account, { groups: [], refused: new Set(), now })
    return { account, state, lastUsed: undefined, groupName: undefined, ...rest }
  }
  const all = { text: '', group: '', state: undefined }

  test.each([
    [{}, true],
    [{ text: ' SERV ' }, true],
    [{ text: 'aaaa' }, true],
    [{ text: 'gpt-5' }, true],
    [{ text: 'search team' }, true],
    [{ text: 'other' }, false],
    [{ group: 'g' }, true],
    [{ group: 'h' }, false],
    [{ group: 'none' }, false],
    [{ state: 'active' as const }, true],
    [{ state: 'spent' as const }, false],
    [{ text: 'serv', group: 'g', state: 'disabled' as const }, false],
  ])('%j finds it: %s', (filter, isFound) => {
    const row = rowOf({ group_id: 'g', models: ['gpt-5*'] }, { groupName: 'Search team' })
    expect(matchesFilter(row, { ...all, ...filter })).toBe(isFound)
  })

  test('a key of the console is found under its state only', () => {
    const row = rowOf({ name: 'console', expires_at: now - 1000 + 43_200 })
    expect(matchesFilter(row, all)).toBe(false)
    expect(matchesFilter(row, { ...all, state: 'console' })).toBe(true)
  })

  test('names begin at A with numbers in their order, and amounts and times with the highest', () => {
    const rows = [
      rowOf({ name: 'key 10', budget_spent: 1, created_at: 3 }, { lastUsed: 1 }),
      rowOf({ name: 'Key 9', budget_spent: 3, created_at: 1 }),
      rowOf({ name: 'a', budget_spent: 2, created_at: 2 }, { lastUsed: 2 }),
    ]
    const sort = (text: string | null) =>
      sortAccounts(rows, readSorting(text)).map(({ account }) => account.name)
    expect(sort('name')).toEqual(['a', 'Key 9', 'key 10'])
    expect(sort('-name')).toEqual(['key 10', 'Key 9', 'a'])
    expect(sort('spend')).toEqual(['Key 9', 'a', 'key 10'])
    expect(sort('used')).toEqual(['a', 'key 10', 'Key 9'])
    for (const newestFirst of [null, 'created', 'unknown', '']) {
      expect(sort(newestFirst)).toEqual(['key 10', 'a', 'Key 9'])
    }
  })

  test('a second click on a column turns the order around', () => {
    expect(toggleSorting(readSorting(null), 'name')).toBe('name')
    expect(toggleSorting(readSorting('name'), 'name')).toBe('-name')
    expect(toggleSorting(readSorting('-name'), 'name')).toBe('name')
  })
})

test('models of a key that no request could match are found', () => {
  const known = ['demo', 'gpt-5', 'openrouter/*']
  const fitting = [
    'demo',
    'gpt-5',
    'gpt-*',
    '*',
    'openrouter/*',
    'openrouter/x',
    'open*',
    'openrouter/x*',
  ]
  expect(findUnknown(fitting, known)).toEqual([])
  const unknown = ['Demo', 'gpt-5*x', 'gpt-6', 'gpt-6*', 'openrouter', 'demo1']
  expect(findUnknown([...fitting, ...unknown], known)).toEqual(unknown)
})
