import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RawJson, stringifyJson } from '../../../src/wire/json/raw.ts'

test('raw text is copied into the document unchanged', () => {
  const body = {
    a: new RawJson('{"n": 1.0}'),
    b: [{ c: new RawJson('12345678901234567890') }],
    d: 'x',
  }
  expect(stringifyJson(body)).toBe('{"a":{"n": 1.0},"b":[{"c":12345678901234567890}],"d":"x"}')
})

test('a document without raw text is serialized as by JSON.stringify', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      expect(stringifyJson(value)).toBe(JSON.stringify(value))
    }),
  )
})

test('a string that contains the placeholder stays a string', () => {
  for (const [before, after] of [
    ['', ''],
    ['x', ''],
    ['', 'x'],
  ]) {
    const raw = new RawJson('1')
    const text = `${before}${raw.toJSON()}${after}`
    for (const body of [
      { a: text, b: raw },
      { b: raw, a: text },
      { a: text, b: raw, c: text },
    ]) {
      expect(JSON.parse(stringifyJson(body))).toEqual({ ...body, b: 1 })
    }
  }
})

test('replacement patterns such as $& are copied literally', () => {
  expect(stringifyJson({ a: new RawJson('"$& $1 $$"') })).toBe('{"a":"$& $1 $$"}')
})

test.each([
  ['a raw text', { a: new RawJson('"\ud83e 🦆 \udd86"') }, '🦆'],
  [
    'escapes of a raw text',
    { a: new RawJson('"\\uD83E \\ud83e\\udd86 \\uDD86"') },
    '\\ud83e\\udd86',
  ],
  ['a string', { a: '\ud83e 🦆 \udd86' }, '🦆'],
])('a half of a character in %s is replaced, a pair is not', (_, value, pair) => {
  expect(stringifyJson(value)).toBe(`{"a":"\ufffd ${pair} \ufffd"}`)
})

test('a backslash before the letters of an escape stays', () => {
  const value = { a: '\\ud83e', b: new RawJson('"\\\\ud83e"') }
  expect(stringifyJson(value)).toBe('{"a":"\\\\ud83e","b":"\\\\ud83e"}')
})

test('only halves of characters are replaced, whatever is beside them', () => {
  // Any UTF-16, with many control characters, backslashes and halves.
  const unit = fc.oneof(
    fc.integer({ min: 0, max: 0x7f }),
    fc.integer({ min: 0xd800, max: 0xdfff }),
    fc.constantFrom(0x5c, 0x22, 0x75, 0x64, 0x201c),
  )
  const text = fc.array(unit).map((units) => String.fromCharCode(...units))
  fc.assert(
    fc.property(text, text, (own, raw) => {
      const json = stringifyJson({ own, raw: new RawJson(JSON.stringify(raw)) })
      expect(JSON.parse(json)).toEqual({ own: own.toWellFormed(), raw: raw.toWellFormed() })
    }),
  )
})
