import { describe, expect, test } from 'vitest'
import { mintKey, newGroupId, newKeyId, parseGroupId, parseKeyId } from '../../src/auth/index.ts'
import { blake3Hex } from '../../src/wire/digest.ts'

const many = <T>(make: () => T) => Array.from({ length: 500 }, make)

test('a minted secret is sk-gw- and 64 lowercase hex digits, with its BLAKE3 digest', () => {
  const { plaintext, digest } = mintKey()
  expect(plaintext).toMatch(/^sk-gw-[0-9a-f]{64}$/)
  expect(digest).toBe(blake3Hex(plaintext))
})

test('all secrets and ids differ, and every byte of them varies', () => {
  for (const texts of [
    many(() => mintKey().plaintext.slice(6)),
    many(newKeyId),
    many(newGroupId),
  ]) {
    expect(new Set(texts).size).toBe(500)
    for (let at = 0; at < (texts[0]?.length ?? 0); at += 2) {
      expect(new Set(texts.map((text) => text.slice(at, at + 2))).size).toBeGreaterThan(100)
    }
  }
})

test('ids are 32 lowercase hex digits, and can be parsed', () => {
  const [key, group] = [newKeyId(), newGroupId()]
  expect(key).toMatch(/^[0-9a-f]{32}$/)
  expect(group).toMatch(/^[0-9a-f]{32}$/)
  expect(parseKeyId(key)).toBe(key)
  expect(parseGroupId(group)).toBe(group)
})

describe('no id', () => {
  test.each([
    ['nothing', ''],
    ['too short a text', 'a'.repeat(31)],
    ['too long a text', 'a'.repeat(33)],
    ['capitals', 'A'.repeat(32)],
    ['another letter', `${'a'.repeat(31)}g`],
    ['a line end', `${'a'.repeat(32)}\n`],
    ['a path', `../${'a'.repeat(29)}`],
  ])('%s is not parsed as an id', (_, text) => {
    expect(parseKeyId(text)).toBeUndefined()
    expect(parseGroupId(text)).toBeUndefined()
  })
})
