import { blake3 } from '@noble/hashes/blake3.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { describe, expect, test } from 'vitest'
import { blake3Hex, constantTimeEqual, sha256 } from '../../src/wire/digest.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

describe('BLAKE3', () => {
  test.each([
    ['', 'af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262'],
    ['abc', '6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85'],
  ])('BLAKE3 of "%s" is the published value', (text, digest) => {
    expect(blake3Hex(text)).toBe(digest)
    expect(blake3Hex(bytes(text))).toBe(digest)
  })

  test('BLAKE3 of a text is the hash of its UTF-8', () => {
    expect(blake3Hex('schlüssel 🔑')).toBe(blake3Hex(bytes('schlüssel 🔑')))
  })

  test.each([0, 1, 63, 64, 65, 128, 129, 1_024, 1_025, 5_000])(
    'BLAKE3 of %i characters does not depend on earlier hashes',
    (length) => {
      for (const text of ['x'.repeat(length), 'é'.repeat(length)]) {
        blake3Hex('y'.repeat(3_000))
        expect(blake3Hex(text)).toBe(bytesToHex(blake3(bytes(text))))
      }
    },
  )
})

test('SHA-256 of a text is the value of other implementations', async () => {
  expect(bytesToHex(await sha256('abc'))).toBe(
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  )
})

describe('a comparison in constant time', () => {
  test('equal bytes compare as equal', () => {
    expect(constantTimeEqual(bytes('canary'), bytes('canary'))).toBe(true)
    expect(constantTimeEqual(new Uint8Array(0), new Uint8Array(0))).toBe(true)
  })

  test('one changed bit compares as different', () => {
    const digest = bytes('0123456789abcdef')
    for (let bit = 0; bit < digest.length * 8; bit++) {
      const other = digest.slice()
      other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(constantTimeEqual(digest, other), `bit ${bit}`).toBe(false)
    }
  })

  test('arrays of different lengths compare as different', () => {
    expect(constantTimeEqual(bytes('canary'), bytes('canar'))).toBe(false)
    expect(constantTimeEqual(bytes('canary'), bytes('canary\0'))).toBe(false)
  })

  test.each(['canary', 'Xanary', 'canarX', 'XXXXXX'])(
    'a comparison with %s reads all bytes',
    (other) => {
      const [a, readsOfA] = watched(bytes('canary'))
      const [b, readsOfB] = watched(bytes(other))
      constantTimeEqual(a, b)
      expect(readsOfA()).toEqual(['0', '1', '2', '3', '4', '5'])
      expect(readsOfB()).toEqual(['0', '1', '2', '3', '4', '5'])
    },
  )
})

/** The same bytes, with the list of those that were looked at. */
function watched(target: Uint8Array): [Uint8Array, () => readonly string[]] {
  const reads: string[] = []
  const proxy = new Proxy(target, {
    get(array, name) {
      if (typeof name === 'string' && /^\d+$/.test(name)) reads.push(name)
      return Reflect.get(array, name)
    },
  })
  return [proxy, () => reads]
}
