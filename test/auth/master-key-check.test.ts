import { describe, expect, test } from 'vitest'
import { checkMasterKey, MasterKeyMismatchError, openMasterKey } from '../../src/auth/index.ts'
import { StoreFault } from '../../src/store/index.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { MemoryStore } from '../support/memory-store.ts'

const clock = new ManualClock()
const { sealer } = await openMasterKey('ab'.repeat(32))
const { sealer: foreign } = await openMasterKey(`${'ab'.repeat(31)}ac`)

const row = async (store: MemoryStore) => {
  const rows = await store.readSealed('canary')
  expect(rows).toHaveLength(1)
  return rows[0] as (typeof rows)[number]
}

describe('the canary', () => {
  test('the check binds a new database once', async () => {
    const store = new MemoryStore()
    await checkMasterKey(store, { sealer, clock })
    const first = await row(store)
    expect(first.updatedAt).toBe(clock.now() / 1000)
    await checkMasterKey(store, { sealer, clock })
    expect(await row(store)).toEqual(first)
    expect(store.calls.filter((call) => call === 'putSealed')).toHaveLength(1)
  })

  test('the check rejects another master key and changes nothing', async () => {
    const store = new MemoryStore()
    await checkMasterKey(store, { sealer, clock })
    const before = await row(store)
    await expect(checkMasterKey(store, { sealer: foreign, clock })).rejects.toThrow(
      MasterKeyMismatchError,
    )
    await expect(checkMasterKey(store, { sealer: foreign, clock })).rejects.toThrow(
      /another master key: set GATEWAY_MASTER_KEY/,
    )
    expect(await row(store)).toEqual(before)
    await checkMasterKey(store, { sealer, clock })
  })

  test('the check rejects a row that was tampered with', async () => {
    const store = new MemoryStore()
    await checkMasterKey(store, { sealer, clock })
    const { sealed, ...rest } = await row(store)
    await store.putSealed({
      ...rest,
      sealed: sealed.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
    })
    await expect(checkMasterKey(store, { sealer, clock })).rejects.toThrow(MasterKeyMismatchError)
  })

  test('the check fails when the database cannot be read', async () => {
    const store = new MemoryStore()
    await checkMasterKey(store, { sealer, clock })
    store.trouble = 'refuse'
    await expect(checkMasterKey(store, { sealer, clock })).rejects.toThrow(StoreFault)
  })
})
