import { beforeEach, describe, expect, test } from 'vitest'
import type { KeyId } from '../../src/core/ids.ts'
import { settled } from '../support/manual-clock.ts'
import { AdminHarness, type Answer } from './harness.ts'

let desk: AdminHarness
let id: string
let secret: string | undefined

beforeEach(async () => {
  desk = new AdminHarness()
  const created = await desk.newKey({ budget_max: 1 })
  id = created.id
  secret = created.key
})

const call = (method: string, action = '', body?: object) =>
  desk.call(method, `/admin/keys/${id}${action}`, { body })

const rotate = () => call('POST', '/rotate')
const remove = () => call('DELETE')
const patch = (change: object) => call('PATCH', '', change)
const grant = (amount: number) => call('POST', '/grant', { amount })

/** What is in memory is what was committed last. */
function expectMemoryIsStore(): void {
  const { digest: _, budgetSpent: __, ...row } = desk.store.keys.get(id) ?? {}
  expect(desk.accounts.getKey(id as KeyId)?.record).toEqual(row)
}

/** Makes the calls, and lets the database answer only when it has been asked by all of them. */
async function together(...calls: readonly (() => Promise<Answer>)[]): Promise<readonly Answer[]> {
  const release = desk.store.hold()
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
  test('all grants land', async () => {
    const answers = await together(...times(100, () => grant(0.01)))
    expect(new Set(statuses(answers))).toEqual(new Set([200]))
    expect(desk.caps(id)).toEqual([2_000_000_000n, 2_000_000_000n])
    expectMemoryIsStore()
  })

  test('a grant and a cap end as they were committed, either way round', async () => {
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
    expect(desk.caps(id)[0]).toBe(11_000_000_000n)
  })

  test('of many rotations the last one committed gives the only secret', async () => {
    const answers = await together(...times(20, rotate))
    const secrets = [secret, ...answers.map(({ json }) => json.key)]
    expect(secrets.filter((key) => desk.opens(key))).toEqual([secrets.at(-1)])
    expect(desk.events.filter(({ type }) => type === 'key.rotated')).toHaveLength(20)
  })

  test('of two deletions one is done and told, the other finds nothing', async () => {
    const answers = await together(remove, remove)
    expect(statuses(answers)).toEqual([204, 400])
    expect(desk.events.map(({ type }) => type)).toEqual(['key.deleted'])
  })

  test('of many disablings one is told', async () => {
    await together(...times(10, () => patch({ disabled: true })))
    expect(desk.events.map(({ type }) => type)).toEqual(['key.disabled'])
  })

  test('every change of state is told as it was committed', async () => {
    const changes = [true, false, true, true, false, false, true]
    await together(...changes.map((disabled) => () => patch({ disabled })))
    expect(desk.events.map(({ type }) => type)).toEqual(Array(3).fill('key.disabled'))
    expect(desk.opens(secret)).toBe(false)
    expectMemoryIsStore()
  })

  test('a deletion leaves no secret in force, whatever else is under way', async () => {
    const answers = await together(rotate, () => patch({ name: 'x' }), remove, rotate)
    expect(statuses(answers)).toEqual([200, 200, 204, 400])
    for (const key of [secret, answers[0]?.json.key, answers[3]?.json.key]) {
      expect(desk.opens(key)).toBe(false)
    }
    expectMemoryIsStore()
  })

  test('a group does not go while a key joins it, nor a key into a group that goes', async () => {
    const group = await desk.newGroup()
    const leave = () => desk.call('DELETE', `/admin/groups/${group.id}`)
    const join = () => patch({ group_id: group.id })
    expect(statuses(await together(join, leave))).toEqual([200, 400])
    await patch({ group_id: null })
    expect(statuses(await together(leave, join))).toEqual([204, 400])
    expectMemoryIsStore()
  })
})

describe('while the database is slow', () => {
  test('the old state serves, and the new one from the commit on', async () => {
    const release = desk.store.hold()
    const deletion = call('DELETE')
    await settled()
    expect(desk.opens(secret)).toBe(true)
    expect(desk.events).toEqual([])
    release()
    expect((await deletion).status).toBe(204)
    expect(desk.opens(secret)).toBe(false)
  })

  test('what is spent meanwhile is in the answer', async () => {
    const release = desk.store.hold()
    const change = patch({ name: 'x' })
    await settled()
    desk.charge(id, 250_000_000n)
    release()
    expect((await change).json.budget_spent).toBe(0.25)
  })

  test('a list shows what is in memory, without waiting', async () => {
    desk.store.hold()
    expect((await desk.done('GET', '/admin/keys')).keys).toHaveLength(1)
  })
})
