import { beforeEach, describe, expect, test } from 'vitest'
import type { KeyId } from '../../src/core/ids.ts'
import { settled } from '../support/manual-clock.ts'
import { AdminHarness, type Answer } from './harness.ts'

let admin: AdminHarness
let id: string
let secret: string | undefined

beforeEach(async () => {
  admin = new AdminHarness()
  const created = await admin.newKey({ budget_max: 1 })
  id = created.id
  secret = created.key
})

const call = (method: string, action = '', body?: object) =>
  admin.call(method, `/admin/keys/${id}${action}`, { body })

const rotate = () => call('POST', '/rotate')
const remove = () => call('DELETE')
const patch = (change: object) => call('PATCH', '', change)
const grant = (amount: number) => call('POST', '/grant', { amount })

/** Checks that the record in memory is the committed one. */
function expectMemoryIsStore(): void {
  const {
    digest: _,
    formerDigest: ____,
    budgetSpent: __,
    spentTotal: ___,
    term,
    ...row
  } = Object(admin.store.keys.get(id))
  const entry = admin.accounts.getKey(id as KeyId)
  expect(entry?.record).toEqual(row)
  expect(entry?.term).toEqual(term)
}

/** Makes the calls and lets the database respond only after all of them have reached it. */
async function together(...calls: readonly (() => Promise<Answer>)[]): Promise<readonly Answer[]> {
  const release = admin.store.hold()
  const answers: Promise<Answer>[] = []
  for (const make of calls) {
    answers.push(make())
    await settled()
  }
  release()
  return Promise.all(answers)
}

const times = <T>(count: number, value: T): readonly T[] =>
  Array.from({ length: count }, () => value)

const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status)

describe('calls that run into each other', () => {
  test('concurrent grants are all added', async () => {
    const answers = await together(...times(100, () => grant(0.01)))
    expect(new Set(statuses(answers))).toEqual(new Set([200]))
    expect(admin.caps(id)).toEqual([2_000_000_000n, 2_000_000_000n])
    expectMemoryIsStore()
  })

  test('a concurrent grant and cap result in the order of their commits', async () => {
    await together(
      () => grant(1),
      () => patch({ budget_max: 10 }),
    )
    expectMemoryIsStore()
    await together(
      () => patch({ budget_max: 10 }),
      () => grant(1),
    )
    expectMemoryIsStore()
    expect(admin.caps(id)[0]).toBe(11_000_000_000n)
  })

  test('after many concurrent rotations, only the secret of the last commit is valid', async () => {
    const answers = await together(...times(20, rotate))
    const secrets = [secret, ...answers.map(({ json }) => json.key)]
    expect(secrets.filter((key) => admin.accepts(key))).toEqual([secrets.at(-1)])
    expect(admin.events.filter(({ type }) => type === 'key.rotated')).toHaveLength(20)
  })

  test('of two concurrent deletions one emits an event, and the other finds no key', async () => {
    const answers = await together(remove, remove)
    expect(statuses(answers)).toEqual([204, 400])
    expect(admin.events.map(({ type }) => type)).toEqual(['key.deleted'])
  })

  test('many concurrent disablings emit one event', async () => {
    await together(...times(10, () => patch({ disabled: true })))
    expect(admin.events.map(({ type }) => type)).toEqual(['key.disabled'])
  })

  test('every change emits its event with the committed state', async () => {
    const changes = [true, false, true, true, false, false, true]
    await together(...changes.map((disabled) => () => patch({ disabled })))
    expect(admin.events.map(({ type }) => type)).toEqual(Array(3).fill('key.disabled'))
    expect(admin.accepts(secret)).toBe(false)
    expectMemoryIsStore()
  })

  test('a deletion leaves no valid secret, no matter which calls run at the same time', async () => {
    const answers = await together(rotate, () => patch({ name: 'x' }), remove, rotate)
    expect(statuses(answers)).toEqual([200, 200, 204, 400])
    for (const key of [secret, answers[0]?.json.key, answers[3]?.json.key]) {
      expect(admin.accepts(key)).toBe(false)
    }
    expectMemoryIsStore()
  })

  test('a group is not deleted while a key joins it, and a key does not join a deleted group', async () => {
    const group = await admin.newGroup()
    const leave = () => admin.call('DELETE', `/admin/groups/${group.id}`)
    const join = () => patch({ group_id: group.id })
    expect(statuses(await together(join, leave))).toEqual([200, 400])
    await patch({ group_id: null })
    expect(statuses(await together(leave, join))).toEqual([204, 400])
    expectMemoryIsStore()
  })
})

describe('while the database is slow', () => {
  test('while the database is slow, the old state applies until the commit', async () => {
    const release = admin.store.hold()
    const deletion = call('DELETE')
    await settled()
    expect(admin.accepts(secret)).toBe(true)
    expect(admin.events).toEqual([])
    release()
    expect((await deletion).status).toBe(204)
    expect(admin.accepts(secret)).toBe(false)
  })

  test('spend during a slow change is part of the response', async () => {
    const release = admin.store.hold()
    const change = patch({ name: 'x' })
    await settled()
    admin.charge(id, 250_000_000n)
    release()
    expect((await change).json.budget_spent).toBe(0.25)
  })

  test('a list shows the state in memory without waiting for the database', async () => {
    admin.store.hold()
    expect((await admin.done('GET', '/admin/keys')).keys).toHaveLength(1)
  })
})
