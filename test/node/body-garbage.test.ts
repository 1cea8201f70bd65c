import { expect, test } from 'vitest'
import { createBodyCollector } from '../../adapters/node/http/body-garbage.ts'

const megabyte = 1024 * 1024

test('new objects are collected each time that requests with 16 MB of bodies have ended', () => {
  const collected: unknown[] = []
  const collectBody = createBodyCollector((options) => {
    collected.push(options)
    return Promise.resolve()
  })
  for (let at = 0; at < 15; at++) collectBody(megabyte)
  expect(collected).toEqual([])
  collectBody(megabyte)
  expect(collected).toEqual([{ type: 'minor' }])
  collectBody(40 * megabyte)
  for (let at = 0; at < 15; at++) collectBody(megabyte)
  expect(collected).toHaveLength(2)
})

test('without the function of Node nothing is collected', () => {
  expect(() => createBodyCollector(undefined)(40 * megabyte)).not.toThrow()
})
