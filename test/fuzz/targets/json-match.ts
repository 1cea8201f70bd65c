import assert from 'node:assert/strict'
import { isUtf8 as nativeIsUtf8 } from 'node:buffer'
import { matchJson } from '../../../src/wire/json/match.ts'
import { scanLayout } from '../../../src/wire/json/scan.ts'
import {
  anything,
  arrayOf,
  countedJson,
  countedText,
  objectOf,
  talliedIn,
} from '../../../src/wire/json/shape.ts'
import { strictUtf8 } from '../../../src/wire/json/steps.ts'
import { isUtf8 } from '../../../src/wire/utf8.ts'
import type { FuzzTarget } from '../target.ts'

const limits = { maxDepth: 128, maxValues: 200_000 }
const anyItems = objectOf({ a: arrayOf(anything) })
const texts = objectOf({ a: talliedIn('a', arrayOf(countedText)) })
const json = objectOf({ a: talliedIn('a', countedJson(arrayOf(anything))) })

/** Values match when `JSON.parse` takes them, and count the bytes of their text or of their JSON. */
export const jsonMatch: FuzzTarget = {
  seeds: [
    '"a\\u00e9\\ud83e\\udd14\\/\\n é","\\ud83e\\ud83e\\udd14\\udd14"',
    '{"a":[1,-0,1.5e3,1e400,10,0.5],"b":{"":null}} , [[],{},true,false,null,"x"]',
    '"a text that is longer than the loop for short ones\\u001f\\u0041\\u0022\\\\","𝄞é"',
  ],
  words: [
    '"',
    '\\',
    '\\u00',
    '\\ud8',
    '\\udc00',
    '\x1f',
    '\x7f',
    '{"a":',
    '[',
    ']}',
    ',',
    '-',
    '0',
    '1.',
    'e+',
    'true',
    'nul',
    ' \n\t',
    '\uFEFF',
    '\u00a0',
    'é',
    '𝄞',
    '{"cache_control":{"ttl":"1h"}}',
    '{"cache_contro\\u006c":{}}',
  ],
  check(input) {
    assert.equal(isUtf8(input), nativeIsUtf8(input))
    if (!isUtf8(input)) return
    const body = Buffer.concat([Buffer.from('{"a":['), input, Buffer.from(']}')])
    const match = matchJson(body, anyItems, limits)
    const scanned = scanLayout(body, ['a'])
    if (match) {
      assert.notEqual(parse(body), undefined)
      const { values, commas, cacheLife, spans, close, isEmpty } = scanned
      const sizes = { values, commas, cacheLife }
      assert.deepEqual(match.layout, { ...sizes, spans: { ...spans }, close, isEmpty })
    }
    const items = parse(body.subarray('{"a":'.length, -1))
    if (!Array.isArray(items)) return
    const isWithinLimits = scanned.depth <= limits.maxDepth && scanned.values <= limits.maxValues
    assert.equal(match !== undefined, isWithinLimits)
    if (!match) return
    const text = matchJson(body, texts, limits)
    assert.equal(
      text !== undefined,
      items.every((item) => typeof item === 'string'),
    )
    if (text)
      assert.deepEqual(text.tallies['a'], [
        items.reduce((sum: number, item) => sum + Buffer.byteLength(item), 0),
      ])
    // Objects with equal keys do not match, because only one of the members counts.
    const counted = matchJson(body, json, limits)
    if (counted) assert.deepEqual(counted.tallies['a'], [Buffer.byteLength(JSON.stringify(items))])
  },
}

/** Returns undefined for what is not JSON in UTF-8; no JSON text parses to undefined. */
function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(strictUtf8.decode(bytes))
  } catch {
    return undefined
  }
}
