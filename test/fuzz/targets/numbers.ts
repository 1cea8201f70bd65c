import assert from 'node:assert/strict'
import { decodeBase64, encodeBase64, writeBase64 } from '../../../src/wire/base64.ts'
import { decodeFloats, encodeFloats } from '../../../src/wire/floats.ts'
import { formatIntegerArray } from '../../../src/wire/json/integers.ts'
import type { NumberArray, NumberForm } from '../../../src/wire/json/number-reader.ts'
import { VectorScanner } from '../../../src/wire/json/vector-scanner.ts'
import { attempt, type FuzzTarget, splitInput, textTarget } from '../target.ts'
import { isUpstreamFault } from './faults.ts'

const decoder = new TextDecoder()

/** The numbers are those of `JSON.parse`, as float32 and as text, however the document is split. */
export const vectorScanner: FuzzTarget = {
  seeds: [
    '{"data":[{"embedding":[0.0123456,-0.5,1.25e-3, 2]},{"embedding":[0,-0,1e10,3.4e38]}]}',
    '[[0.1234567890123456,0.98765,0.25,-0.125,0.0000001,0.5],[]]',
    '{"text":"[1,2] \\"[3]\\" \\\\","e":[ ],"m":[\n -4 ]}',
  ],
  words: ['[', ']', '[0.', ',', '0.12345678', '-', '1e', 'e+', 'E-', '.', '"', '\\', '16777217'],
  check(input) {
    const { whole, pieces } = splitInput(input)
    for (const form of ['float32', 'text'] as const) {
      const scanned = scan([whole], form)
      assert.deepEqual(scan(pieces, form), scanned)
      if (!scanned) continue
      const expected: unknown = JSON.parse(decoder.decode(whole))
      const round = form === 'text' ? Number : Math.fround
      assert.deepEqual(
        mapArrays(scanned.json, ([index = -1]) => scanned.arrays[index]),
        mapArrays(expected, (numbers) => numbers.map(round)),
      )
    }
  },
}

interface Scanned {
  readonly json: unknown
  readonly arrays: readonly (readonly number[])[]
}

function scan(pieces: readonly Uint8Array[], form: NumberForm): Scanned | undefined {
  const scanner = new VectorScanner(form)
  const outcome = attempt(() => {
    for (const piece of pieces) scanner.push(piece)
    return scanner.end()
  }, isUpstreamFault)
  return 'value' in outcome
    ? { json: outcome.value.json, arrays: outcome.value.arrays.map(readNumbers) }
    : undefined
}

function readNumbers({ form, pieces, length }: NumberArray): number[] {
  const bytes = Buffer.concat(pieces)
  const numbers: number[] =
    form === 'text'
      ? JSON.parse(`[${decoder.decode(bytes)}]`)
      : Array.from({ length }, (_, at) => bytes.readFloatLE(at * 4))
  assert.equal(numbers.length, length)
  return numbers
}

/** Replaces the arrays of numbers in a document. Objects become lists of their members. */
function mapArrays(
  value: unknown,
  map: (numbers: readonly number[]) => readonly number[] | undefined,
): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (!Array.isArray(value)) {
    return Object.entries(value).map(([key, member]) => [key, mapArrays(member, map)])
  }
  const isVector = typeof value[0] === 'number'
  return isVector ? map(value) : value.map((item) => mapArrays(item, map))
}

/** Base64 is decoded as by `atob`, and encoded as by `Buffer`. */
export const base64: FuzzTarget = {
  seeds: ['AAECAwQF', 'AA==', 'AAE=', ' A A E C\n', 'AAE'],
  words: ['=', '==', '+/', '-_', '\n', 'AAAA', 'é'],
  check(input) {
    const text = Buffer.from(input).toString('latin1')
    const decoded = decodeBase64(text)
    const expected = attempt(() => Buffer.from(atob(text), 'latin1'), isDomException)
    assert.deepEqual(
      decoded && Buffer.from(decoded),
      'value' in expected ? expected.value : undefined,
    )
    const encoded = Buffer.from(input).toString('base64')
    assert.equal(encodeBase64(input), encoded)
    assert.deepEqual(decodeBase64(encoded), input)
    const written = new Uint8Array(encoded.length + 2)
    assert.equal(writeBase64(input, written, 1), encoded.length + 1)
    assert.equal(Buffer.from(written).toString('latin1'), `\0${encoded}\0`)
  },
}

function isDomException(error: unknown): boolean {
  return error instanceof DOMException
}

/** Decoded vectors are finite, and encode to the same text. */
export const floats = textTarget({
  seeds: ['AAAAAA==', 'AACAPwAAAL8=', '//8=', 'AADAfwAAgH8='],
  words: ['=', '==', 'AAAA', 'AADAfw', '\n', '-_'],
  check(text) {
    const vector = decodeFloats(text)
    if (!vector) return
    assert.ok(vector.length > 0 && vector.every(Number.isFinite))
    const again = encodeBase64(encodeFloats(vector))
    assert.equal(again, Buffer.from(text, 'base64').toString('base64'))
  },
})

/** Token ids are written as by `JSON.stringify`. */
export const integers: FuzzTarget = {
  seeds: [new Uint8Array(8), new Uint8Array(8).fill(0xff), '\u0001\u0000\u0000\u0000'],
  words: ['\u0000\u0000\u0000\u0000', '\u000a', '\u0063'],
  check(input) {
    const numbers = Int32Array.from({ length: Math.floor(input.length / 4) }, (_, at) =>
      Math.abs(Buffer.from(input.buffer, input.byteOffset).readInt32LE(at * 4)),
    ).map((number) => Math.max(0, number))
    assert.equal(formatIntegerArray(numbers), JSON.stringify([...numbers]))
  },
}
