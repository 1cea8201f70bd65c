import { expect, test } from 'vitest'
import { RefusedRequests } from '../../src/accounting/index.ts'
import type { ErrorCode } from '../../src/core/errors.ts'
import type { KeyId } from '../../src/core/ids.ts'
import type { RequestRecord } from '../../src/core/request-record.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { RecordingLog } from './support.ts'

function refusedOver() {
  const store = new MemoryStore()
  const clock = new ManualClock()
  const log = new RecordingLog()
  const refused = new RefusedRequests({ store, clock, log, findGroup: () => null })
  const add = (key: string, errorCode: ErrorCode = 'LM-2001') =>
    refused.add({
      requestId: 'r',
      keyId: key as KeyId,
      api: 'chat',
      stream: false,
      status: 404,
      errorCode,
      latency: 1,
    } as RequestRecord)
  return { store, clock, log, refused, add }
}

test('at most 500 rows are kept in a second, whatever the number of keys, and those that are kept count on', async () => {
  const { store, clock, add } = refusedOver()
  for (let key = 0; key < 700; key++) add(`key-${key}`)
  for (let again = 0; again < 3; again++) add('key-0')
  add('key-699')
  await clock.advance(1_000)
  expect(store.refused).toHaveLength(500)
  expect(store.refused[0]).toMatchObject({ keyId: 'key-0', count: 4 })
  expect(store.refused.at(-1)).toMatchObject({ keyId: 'key-499', count: 1 })
  add('key-699')
  await clock.advance(1_000)
  expect(store.refused.at(-1)).toMatchObject({ keyId: 'key-699', count: 1 })
})

test('a flood of a million requests is ten rows', async () => {
  const { store, clock, add } = refusedOver()
  for (let count = 0; count < 1_000_000; count++) add('key', 'LM-4004')
  await clock.advance(1_000)
  const counts = store.refused.map(({ count }) => count)
  expect(counts).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 999_991])
})

test('while the database is out, memory holds what is being written and one further portion', async () => {
  const { store, clock, log, refused, add } = refusedOver()
  store.trouble = 'refuse'
  for (let second = 0; second < 5; second++) {
    for (let key = 0; key < 600; key++) add(`${second}-${key}`)
    await clock.advance(1_000)
  }
  expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
  store.trouble = 'none'
  await refused.flush()
  expect(store.refused).toHaveLength(1_000)
  expect(new Set(store.refused.map(({ keyId }) => keyId?.[0]))).toEqual(new Set(['0', '1']))
  expect(log.lines.at(-1)?.message).toBe('saving refused requests works again')
  await refused.close()
  add('late')
  await clock.advance(1_000)
  expect(store.refused).toHaveLength(1_000)
  expect(clock.pending).toBe(0)
})
