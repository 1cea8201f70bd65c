import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RawJson, stringifyJson } from '../../src/wire/raw-json.ts'

test('raw text stands in the document as it is', () => {
  const body = {
    a: new RawJson('{"n": 1.0}'),
    b: [{ c: new RawJson('12345678901234567890') }],
    d: 'x',
  }
  expect(stringifyJson(body)).toBe('{"a":{"n": 1.0},"b":[{"c":12345678901234567890}],"d":"x"}')
})

test('a document without any is what JSON.stringify writes', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      expect(stringifyJson(value)).toBe(JSON.stringify(value))
    }),
  )
})

test('a text that holds what stands for raw text stays a text', () => {
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

test('patterns of a replacement are nothing special', () => {
  expect(stringifyJson({ a: new RawJson('"$& $1 $$"') })).toBe('{"a":"$& $1 $$"}')
})

test('half a surrogate pair is escaped, a whole one is not', () => {
  const text = stringifyJson({ a: new RawJson('"\ud83e 🦆 \udd86"') })
  expect(text).toBe('{"a":"\\ud83e 🦆 \\udd86"}')
})
