import { beforeEach, describe, expect, test } from 'vitest'
import { createMemoryLedger, KeyRegistry } from '../../src/accounting/index.ts'
import { KeyRing } from '../../src/auth/index.ts'
import { AdminHarness, refusal } from './harness.ts'

let admin: AdminHarness
let id: string
let secret: string | undefined

beforeEach(async () => {
  admin = new AdminHarness()
  const created = await admin.newKey()
  id = created.id
  secret = created.key
})

const rotate = (body?: unknown) => admin.call('POST', `/admin/keys/${id}/rotate`, { body })

/** Rotates, and returns the new secret. */
async function rotated(body?: object): Promise<string | undefined> {
  const answer = await rotate(body)
  expect(answer.status).toBe(200)
  return answer.json.key
}

describe('a rotation with a grace period', () => {
  test('lets the former secret in until it ends, and the list shows when that is', async () => {
    const renewed = await rotated({ grace_seconds: 60 })
    expect([admin.accepts(secret), admin.accepts(renewed)]).toEqual([true, true])
    const { keys } = await admin.done('GET', '/admin/keys')
    expect(keys).toMatchObject([{ id, grace_ends_at: admin.now + 60 }])
    await admin.clock.advance(59_000)
    expect(admin.accepts(secret)).toBe(true)
    await admin.clock.advance(1_000)
    expect([admin.accepts(secret), admin.accepts(renewed)]).toEqual([false, true])
  })

  test('after a second one, only the last former secret is let in', async () => {
    const second = await rotated({ grace_seconds: 604_800 })
    const third = await rotated({ grace_seconds: 60 })
    const accepted = [secret, second, third].map((key) => admin.accepts(key))
    expect(accepted).toEqual([false, true, true])
    const fourth = await rotated()
    const left = [secret, second, third, fourth].map((key) => admin.accepts(key))
    expect(left).toEqual([false, false, false, true])
  })

  test.each([undefined, {}, { grace_seconds: 0 }])(
    'with the body %j the former secret stops at once',
    async (body) => {
      const answer = await rotate(body)
      expect(answer.json).toMatchObject({ grace_ends_at: null })
      expect([admin.accepts(secret), admin.accepts(answer.json.key)]).toEqual([false, true])
    },
  )

  test('a change of the key keeps the grace period', async () => {
    await rotated({ grace_seconds: 60 })
    await admin.done('PATCH', `/admin/keys/${id}`, { name: 'x', disabled: true })
    expect(admin.accepts(secret)).toBe(false)
    await admin.done('PATCH', `/admin/keys/${id}`, { disabled: false })
    expect(admin.accepts(secret)).toBe(true)
  })

  test('a deletion ends it', async () => {
    const renewed = await rotated({ grace_seconds: 60 })
    await admin.done('DELETE', `/admin/keys/${id}`)
    expect([admin.accepts(secret), admin.accepts(renewed)]).toEqual([false, false])
  })

  test('it survives a restart', async () => {
    await rotated({ grace_seconds: 60 })
    const { clock } = admin
    const observer = {
      charged() {},
      refused() {},
      admitted() {},
      changed() {},
      turned() {},
      loaded() {},
    }
    const registry = new KeyRegistry({
      ledger: createMemoryLedger(clock),
      observer,
      reserveOutputTokens: () => 0,
    })
    const rows = await admin.store.readAccounts()
    registry.load(rows)
    const ring = new KeyRing<ReturnType<typeof registry.putKey>>()
    for (const row of rows.keys) ring.put(row, registry.putKey(row))
    const headers = new Headers({ authorization: `Bearer ${secret}` })
    expect(ring.authenticate({ headers }, admin.now + 59).record.id).toBe(id)
    expect(() => ring.authenticate({ headers }, admin.now + 60)).toThrow('not valid')
  })

  test('no answer shows a former secret or a digest', async () => {
    await rotated({ grace_seconds: 60 })
    const row = admin.store.keys.get(id)
    const { text } = await admin.call('GET', '/admin/keys')
    for (const hidden of [secret, row?.digest, row?.formerDigest]) {
      expect(hidden).toMatch(/[0-9a-f]{64}$/)
      expect(text).not.toContain(hidden)
    }
  })

  test.each([-1, 604_801, 1.5, '60', null, true, []])('%j seconds are refused', async (seconds) => {
    const answer = await rotate({ grace_seconds: seconds })
    expect(refusal(answer)).toEqual([400, 'LM-1001', 'grace_seconds'])
    expect(admin.accepts(secret)).toBe(true)
  })

  test('an unknown field is refused', async () => {
    expect(refusal(await rotate({ grace: 60 }))).toEqual([400, 'LM-1001', 'grace'])
  })
})
