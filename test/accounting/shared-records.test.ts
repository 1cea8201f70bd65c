import { expect, test } from 'vitest'
import { generateRecordFunctions } from '../../src/accounting/index.ts'
import { factsOf, readRecord } from '../../src/accounting/shared/hold.ts'
import { writeShare } from '../../src/accounting/shared/values.ts'
import type { ModelId, RequestId } from '../../src/core/ids.ts'

/*
 * The records that a server keeps are read by the release before and after, so their order is fixed. Both sides are
 * made of one list, so a change of its order would fail no other test.
 */

const facts =
  '{"id":"r","model":"m","provider":"p","api":"chat","stream":false,"cost":"2000000001"}'

test('a share is written as every release reads it', () => {
  const share = { sequence: 3, since: 86_400, amount: 1_000_000_002n, total: 5_000_000_004n }
  expect(writeShare(share)).toBe('[3,86400,1,2,5,4]')
})

test('a hold of another release is read', () => {
  const head = '["a1",29,500,[["key:k",86400,2,1,1,1],["group:g",0,0,0,0,1]]]'
  expect(readRecord('a1-7', `${head}\n${facts}`)).toMatchObject({
    id: 'a1-7',
    minute: 29,
    account: { keyId: 'k', groupId: 'g' },
    terms: [
      { name: 'key:k', since: 86_400 },
      { name: 'group:g', since: 0 },
    ],
    reserved: 2_000_000_001n,
  })
})

test('the functions on the server read and write the same places', () => {
  const functions = generateRecordFunctions()
  const read = (name: string) =>
    new RegExp(`read_${name}\\(list\\)\\n  return (.+)`).exec(functions)?.[1]
  expect(read('share')).toBe(
    '{ sequence = list[1], since = list[2], usd = list[3], nano = list[4], total_usd = list[5], total_nano = list[6] }',
  )
  expect(read('hold')).toBe(
    '{ owner = list[1], minute = list[2], tokens = list[3], subjects = list[4] }',
  )
  expect(read('held')).toBe(
    '{ name = list[1], since = list[2], usd = list[3], nano = list[4], requests = list[5], tokens = list[6] }',
  )
  expect(functions).toContain(`'["%s",%d,%d,[%s]]'`)
  expect(functions).toContain(`'["%s",%d,%d,%d,%d,%d]'`)
})

test('a hold names what its request names, and not the target that a switch has chosen', () => {
  const route = { id: 'target' as ModelId, provider: undefined }
  const asked = { id: 'r' as RequestId, api: 'chat', stream: false, route } as const
  expect(factsOf(asked, 5n)).toMatchObject({ model: 'target', cost: 5n })
  const named = { id: 'switch' as ModelId, provider: undefined }
  expect(factsOf({ ...asked, named }, 5n)).toMatchObject({ model: 'switch', provider: '' })
})
