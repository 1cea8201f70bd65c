import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { UpstreamFault } from '../../../src/core/failure.ts'
import type { NumberArray, NumberForm } from '../../../src/wire/json/number-reader.ts'
import { type ScannedJson, VectorScanner } from '../../../src/wire/json/vector-scanner.ts'

function scan(text: string, form: NumberForm, cuts: readonly number[] = []): ScannedJson {
  const scanner = new VectorScanner(form)
  const bytes = new TextEncoder().encode(text)
  let from = 0
  for (const cut of [...cuts, bytes.length]) {
    scanner.push(bytes.subarray(from, cut))
    from = cut
  }
  return scanner.end()
}

function textOf({ pieces }: NumberArray): string {
  return pieces.map((piece) => new TextDecoder().decode(piece)).join('')
}

function floatsOf({ pieces, length }: NumberArray): number[] {
  const view = new DataView(Uint8Array.from(pieces.flatMap((piece) => [...piece])).buffer)
  return Array.from({ length }, (_, index) => view.getFloat32(index * 4, true))
}

/** Numbers in all the ways that JSON can write them. */
const numberText = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e30, max: 1e30 }).map(String),
  fc.float({ noNaN: true, noDefaultInfinity: true, max: Math.fround(1e30) }).map(String),
  fc.integer().map(String),
  fc
    .tuple(fc.bigInt({ min: 0n, max: 10n ** 25n }), fc.bigInt({ min: 0n, max: 10n ** 25n }))
    .map(([whole, fraction]) => `-${whole}.${fraction}`),
  fc
    .tuple(fc.nat(9), fc.nat(14), fc.bigInt({ min: 0n, max: 10n ** 20n }))
    .map(([whole, zeros, digits]) => `${whole}.${'0'.repeat(zeros)}${digits}`),
  fc
    .tuple(fc.float({ noNaN: true, min: 0, max: 1 }), fc.constantFrom(1, -1))
    // Exactly between two float32 values, or nearly.
    .map(([value, side]) => (value + side * value * 2 ** -25).toFixed(40)),
  fc
    .tuple(
      fc.float({ noNaN: true, min: 1, max: Math.fround(1.99) }),
      fc.integer({ min: 14, max: 24 }),
    )
    // As good as between two, and as many digits as a double just cannot hold.
    .map(([value, places]) => (value + 2 ** -24).toFixed(places)),
  fc
    .tuple(fc.integer({ min: 0, max: 10 ** 9 }), fc.integer({ min: -60, max: 20 }))
    .map(([mantissa, power]) => `${mantissa}.5E${power >= 0 ? '+' : ''}${power}`),
  fc.constantFrom('0', '-0', '0.0', '1e-400', '16777217', '0.1', '1.00000017881393432617187499'),
)

describe('numbers', () => {
  test('numbers give the same float32 as JSON.parse, wherever the pieces are split', () => {
    fc.assert(
      fc.property(
        fc.array(numberText, { minLength: 1, maxLength: 20 }),
        fc.array(fc.nat(400), { maxLength: 6 }),
        fc.constantFrom(',', ', ', ',\n        ', ' ,\n'),
        (numbers, cuts, separator) => {
          const text = `{"v":[${numbers.join(separator)}],"n":[[1,2]]}`
          const ordered = cuts.filter((cut) => cut <= text.length).sort((a, b) => a - b)
          const [array] = scan(text, 'float32', ordered).arrays
          const expected = Float32Array.from(numbers, Number)
          expect(array && floatsOf(array)).toEqual([...expected])
        },
      ),
      { numRuns: 2000 },
    )
  })

  test.each(Array.from({ length: 26 }, (_, digits) => digits))(
    'numbers with %i decimal places give the same float32',
    (digits) => {
      const one = fc.tuple(
        fc.constantFrom('', '-'),
        fc.nat(9),
        fc.array(fc.nat(9), { minLength: digits, maxLength: digits }),
      )
      fc.assert(
        fc.property(fc.array(one, { minLength: 40, maxLength: 40 }), (parts) => {
          const numbers = parts.map(
            ([sign, whole, places]) => `${sign}${whole}${digits > 0 ? '.' : ''}${places.join('')}`,
          )
          const [array] = scan(`[[${numbers.join()}]]`, 'float32').arrays
          expect(array && floatsOf(array)).toEqual([...Float32Array.from(numbers, Number)])
        }),
        { numRuns: 50 },
      )
    },
  )

  test.each([
    'x',
    'x.5',
    '-x.5',
    '/.5',
    '..',
    '.',
    'e',
    '--1.5',
    '1.5.5',
    '01.5',
    '1.x',
    '1.5-',
    '1.5+5',
    ' 1.5 2',
    ':',
  ])('%j among numbers is malformed', (wrong) => {
    const many = Array.from({ length: 20 }, (_, index) => `0.${index}25`)
    for (const form of ['text', 'float32'] as const) {
      const text = `[[${[...many, wrong, ...many].join()}]]`
      expect(() => scan(text, form)).toThrow(UpstreamFault)
    }
  })

  test('numbers keep their text', () => {
    const numbers = '0.10000000000000000555, -1e-7,3 ,\t0.5000'
    const { arrays } = scan(`[[${numbers}]]`, 'text', [5, 6, 7, 20, 30])
    expect(arrays.map(textOf)).toEqual([numbers])
    expect(arrays[0]?.length).toBe(4)
  })

  test.each([
    'NaN',
    'Infinity',
    '-',
    '01',
    '1.',
    '.5',
    '+1',
    '1e',
    '1e+',
    '--1',
    '1.2.3',
    '1 2',
    '1,',
    '1,,2',
    '1,null',
    '1,"2"',
    '1,[2]',
    '1,{}',
    '0x1',
    '1e400',
    '3.5e38',
    '-1e39',
    '1_0',
    '1}',
  ])('[%s] is not a vector', (numbers) => {
    for (const form of ['text', 'float32'] as const) {
      expect(() => scan(`{"v":[${numbers}]}`, form)).toThrow(UpstreamFault)
    }
  })

  test('an endless number is malformed', () => {
    const scanner = new VectorScanner('text')
    const digits = new TextEncoder().encode(`[${'1'.repeat(900)}`)
    scanner.push(digits)
    expect(() => scanner.push(digits.subarray(1))).toThrow(UpstreamFault)
  })
})

describe('the document around the numbers', () => {
  const text =
    '{"a":[[1,2],[3]],"text":"[1,2] \\"[3]\\" \\\\","e":[],"o":[ {"x":1}],"s":["1"],"m":[\n -4 ]}'

  test('the document is parsed with the index of each array in its place', () => {
    const { json, arrays } = scan(text, 'text')
    expect(json).toEqual({
      a: [[0], [1]],
      text: '[1,2] "[3]" \\',
      e: [],
      o: [{ x: 1 }],
      s: ['1'],
      m: [2],
    })
    expect(arrays.map(textOf)).toEqual(['1,2', '3', '-4 '])
  })

  test('the document is the same wherever the pieces are split', () => {
    const whole = scan(text, 'text').json
    for (let cut = 0; cut <= text.length; cut++) {
      const { json, arrays } = scan(text, 'text', [cut])
      expect(json).toEqual(whole)
      expect(arrays.map(textOf)).toEqual(['1,2', '3', '-4 '])
    }
    const everywhere = Array.from({ length: text.length }, (_, index) => index)
    expect(scan(text, 'text', everywhere).json).toEqual(whole)
  })

  test.each(['', '<html>', '{"a":[1,2]', '{"a":[1,2', '[', '{"a":[1]]}', '"', '{"a":"[1,2]'])(
    '%j is malformed',
    (broken) => {
      expect(() => scan(broken, 'float32')).toThrow(UpstreamFault)
    },
  )
})
