import { describe, expect, test } from 'vitest'
import { isDataUri, parseDataUri } from '../../src/wire/data-uri.ts'

describe('a data URI', () => {
  test.each([
    ['data:image/png;base64,AAAA', 'image/png', 'AAAA'],
    ['DATA:Image/PNG;BASE64,AbC=', 'image/png', 'AbC='],
    ['data:image/png;charset=utf-8;name=a.png;base64,AAAA', 'image/png', 'AAAA'],
    ['data:image/png ; base64,AAAA', 'image/png', 'AAAA'],
    ['data:;base64,AAAA', '', 'AAAA'],
    ['data:image/png;base64,AA\r\n AA\t', 'image/png', 'AAAA'],
    ['data:image/png;base64,AA,A', 'image/png', 'AA,A'],
  ])('%j is parsed', (uri, mediaType, payload) => {
    expect(parseDataUri(uri)).toEqual({ mediaType, payload })
  })

  test.each([
    'https://example.com/a.png',
    'data:image/png,%89PNG',
    'data:image/png;base64',
    'data:image/png;base64,',
    'data:image/png;base64, \n',
    'data:base64,AAAA',
    'data:image/png;base64;x=y,AAAA',
    'data:',
    '',
  ])('%j cannot be parsed', (uri) => {
    expect(parseDataUri(uri)).toBeUndefined()
  })

  test('a payload of megabytes is parsed quickly', () => {
    const payload = 'A'.repeat(12_000_000)
    const before = performance.now()
    expect(parseDataUri(`data:image/png;base64,${payload}`)?.payload).toHaveLength(payload.length)
    expect(performance.now() - before).toBeLessThan(1000)
  })

  test('isDataUri is true for a data URI that cannot be parsed', () => {
    expect(isDataUri('DATA:,x')).toBe(true)
    expect(isDataUri('database')).toBe(false)
  })
})
