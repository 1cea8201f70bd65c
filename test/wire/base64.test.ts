import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import * as onNode from '../../src/wire/base64.ts'

async function withoutBuffer(): Promise<typeof onNode> {
  vi.resetModules()
  vi.stubGlobal('Buffer', undefined)
  try {
    return await import('../../src/wire/base64.ts')
  } finally {
    vi.unstubAllGlobals()
  }
}

describe.each([
  ['with Buffer', onNode],
  ['without Buffer', await withoutBuffer()],
])('base64 %s', (_, { base64Length, decodeBase64, encodeBase64, writeBase64 }) => {
  test('encodes and decodes like the platform', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64')
        expect(encodeBase64(bytes)).toBe(text)
        expect(base64Length(bytes.length)).toBe(text.length)
        expect(decodeBase64(text)).toEqual(bytes)
      }),
    )
  })

  test('bytes are written into an array at an index, also from a view', () => {
    const bytes = Uint8Array.from([9, 1, 2, 3, 4, 9]).subarray(1, 5)
    const target = new Uint8Array(12).subarray(1)
    expect(writeBase64(bytes, target, 1)).toBe(9)
    expect(new TextDecoder().decode(target)).toBe('\0AQIDBA==\0\0')
  })

  test.each([' AQID\nBA== ', 'AQIDBA', 'AQIDBB=='])('%j is decoded as by atob', (text) => {
    expect(decodeBase64(text)).toEqual(Uint8Array.from([1, 2, 3, 4]))
  })

  test.each(['*', 'A', 'AAAA=A', 'ä', 'A-_A', 'AAA\u0141', 'AAA='.repeat(2)])(
    '%j is not valid base64',
    (text) => {
      expect(decodeBase64(text)).toBeUndefined()
    },
  )
})
