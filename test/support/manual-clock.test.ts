import { expect, test } from 'vitest'
import { settled } from './manual-clock.ts'

test('promises that wait for Web Crypto have settled too', async () => {
  let digests = 0
  const run = async () => {
    for (; digests < 20; digests++) await crypto.subtle.digest('SHA-256', new Uint8Array(8))
  }
  const running = run()
  await settled()
  expect(digests).toBe(20)
  await running
})

test('a failed Web Crypto operation counts as settled', async () => {
  const failing = crypto.subtle.importKey('raw', new Uint8Array(3), 'AES-GCM', false, ['encrypt'])
  const name = failing.catch((error: Error) => error.name)
  await settled()
  expect(await name).toBe('DataError')
})
