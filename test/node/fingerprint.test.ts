import { expect, test } from 'vitest'
import { nodeFingerprint } from '../../adapters/node/ports/fingerprint.ts'

test('tells texts apart, and shows nothing of them', () => {
  const fingerprint = nodeFingerprint()
  const texts = Array.from({ length: 1_000 }, (_, at) => `sk-gw-${at}`)
  const prints = texts.map(fingerprint)
  expect(prints).toEqual(texts.map(fingerprint))
  expect(new Set(prints).size).toBe(texts.length)
  expect(new Set(prints.map(({ length }) => length))).toEqual(new Set([44]))
})

test('is another one in each process', () => {
  expect(nodeFingerprint()('sk-gw-1')).not.toBe(nodeFingerprint()('sk-gw-1'))
})
