import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { extractTexts, minifyJson } from '../../../src/wire/json/text.ts'

const texts = (json: string, pattern: string) => Object.fromEntries(extractTexts(json, pattern))

describe('extracting values', () => {
  test.each([
    ['{"a":12345678901234567890}', 'a', { a: '12345678901234567890' }],
    ['{"a":1.0,"b":2}', 'a', { a: '1.0' }],
    ['{"a":-1e400}', 'a', { a: '-1e400' }],
    [' { "b" : 1 , "a" : { "x" : [ 1 , 2 ] } } ', 'a', { a: '{ "x" : [ 1 , 2 ] }' }],
    ['{"a":"}\\"]{","b":true}', 'a', { a: '"}\\"]{"' }],
    ['{"a":"\\\\","b":null}', 'b', { b: 'null' }],
    ['{"a":{"n":1,"n":2}}', 'a', { a: '{"n":1,"n":2}' }],
    ['{"a":[{"b":{}},{"c":0},{"b":[ ]}]}', 'a.*.b', { 'a.0.b': '{}', 'a.2.b': '[ ]' }],
    ['[[1],[],[2,3]]', '*.*', { '0.0': '1', '2.0': '2', '2.1': '3' }],
    ['{"\\u0061":1}', 'a', { a: '1' }],
    ['{"a":1,"a":2}', 'a', { a: '2' }],
    ['{}', 'a', {}],
    ['[]', '*', {}],
    ['{"a":"text"}', 'a.*', {}],
    ['{"a":{"0":1}}', 'a.*', {}],
    ['7', 'a', {}],
  ])('the texts of %s at %s are exact', (json, pattern, found) => {
    expect(texts(json, pattern)).toEqual(found)
  })
})

test('minifying removes only the white space between tokens', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 4 }), (value, indent) => {
      const text = JSON.stringify(value)
      expect(minifyJson(JSON.stringify(value, undefined, indent))).toBe(text)
      expect(minifyJson(text)).toBe(text)
    }),
  )
})

test('every extracted text parses to the value that JSON.parse gives', () => {
  fc.assert(
    fc.property(fc.array(fc.dictionary(fc.string(), fc.json())), (items) => {
      const json = JSON.stringify(items.map((item) => ({ ...item, a: item })))
      const parsed: readonly { a: unknown }[] = JSON.parse(json)
      const found = [...extractTexts(json, '*.a').values()].map((text) => JSON.parse(text))
      expect(found).toEqual(parsed.map(({ a }) => a))
    }),
  )
})

test('text that is not JSON does not loop forever', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\ a1') }), (text) => {
      extractTexts(text, '*.a')
      extractTexts(text, 'a.*')
    }),
  )
})
