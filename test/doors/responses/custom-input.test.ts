import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { CustomInput } from '../../../src/doors/responses/custom-input.ts'

/** Decodes arguments that arrive in these pieces. */
function decode(...pieces: readonly string[]): string {
  const input = new CustomInput()
  return pieces.map((piece) => input.push(piece)).join('') + input.end()
}

/** Splits a text at random places. */
const split = (text: string) =>
  fc
    .array(fc.nat({ max: text.length }), { maxLength: 8 })
    .map((cuts) => [0, ...cuts.toSorted((a, b) => a - b), text.length])
    .map((cuts) => cuts.slice(1).map((end, at) => text.slice(cuts[at], end)))

test('the input is the same, wherever the arguments are split', () => {
  const input = fc.string({
    unit: fc.oneof(fc.constantFrom('"', '\\', '\n', '🌍', 'é'), fc.string()),
  })
  const space = fc.constantFrom('', ' ', '\n  ')
  const written = fc.tuple(input, space, fc.boolean()).chain(([text, blank, escapes]) => {
    const json = JSON.stringify(text)
    const ascii = json.replace(/[^ -~]/g, (unit) =>
      unit.replace(/./gsu, (c) => JSON.stringify(c).slice(1, -1)),
    )
    const literal = escapes ? toUnicodeEscapes(ascii) : json
    return fc.tuple(
      fc.constant(text),
      split(`{${blank}"input"${blank}:${blank}${literal}${blank}}`),
    )
  })
  fc.assert(fc.property(written, ([text, pieces]) => decode(...pieces) === text))
})

test('arguments of another form are the input', () => {
  const other = fc.constantFrom(
    '',
    '{}',
    '[1]',
    'ls -l',
    '{"a":"b","c":"d"}',
    '{"input":5}',
    '{"a',
    '"b" c',
    '{ b }',
    '{"a":["b"]}',
  )
  const pieces = other.chain((text) => fc.tuple(fc.constant(text), split(text)))
  fc.assert(fc.property(pieces, ([text, parts]) => decode(...parts) === text))
})

test('a text alone, under another name or behind other members is the input', () => {
  const text = fc.string({ unit: fc.oneof(fc.constantFrom('"', '\\', '\n', '🌍'), fc.string()) })
  const space = fc.constantFrom('', ' ', '\n')
  const written = fc.tuple(text, space).chain(([input, blank]) => {
    const literal = JSON.stringify(input)
    const forms = [
      literal,
      `{${blank}"patch"${blank}:${literal}}`,
      `{"inputs":${literal}${blank}}`,
      `{"reason":"r",${blank}"input":${literal}}`,
    ]
    const pieces = fc.constantFrom(...forms).chain((form) => split(blank + form))
    return fc.tuple(fc.constant(input), pieces)
  })
  fc.assert(fc.property(written, ([input, pieces]) => decode(...pieces) === input))
})

test('the input is decoded as it arrives', () => {
  const input = new CustomInput()
  expect(
    ['{"inp', 'ut": "a', 'b\\', 'n\\ud83c', '\\udf0d', 'c"', '}'].map((p) => input.push(p)),
  ).toEqual(['', 'a', 'b', '\n', '🌍', 'c', ''])
})

test('input that is cut off keeps what has arrived', () => {
  expect(decode('{"input":"ab\\n')).toBe('ab\n')
})

/** Writes every character that is no ASCII as escapes. */
function toUnicodeEscapes(json: string): string {
  return json
    .split('')
    .map((unit) =>
      unit < '\x80' ? unit : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
    .join('')
}
