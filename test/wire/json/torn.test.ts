import { expect, test } from 'vitest'
import { isObject } from '../../../src/wire/json/parse.ts'
import { closeTornJson } from '../../../src/wire/json/torn.ts'

const sample = {
  'a "key"': 'x\\"\n\u00e9\ud83e\udd86\u0001',
  list: [1, -2.5e3, true, null, [], {}, ['in', { '': '' }]],
  empty: '',
  n: 12,
}

/** True if a value is the beginning of another: no text, item or member is one that the other lacks. */
function isBeginning(part: unknown, whole: unknown): boolean {
  if (typeof part === 'string') return typeof whole === 'string' && whole.startsWith(part)
  if (Array.isArray(part)) {
    return Array.isArray(whole) && part.every((item, at) => isBeginning(item, whole[at]))
  }
  if (!isObject(part)) return part === whole
  return isObject(whole) && Object.keys(part).every((key) => isBeginning(part[key], whole[key]))
}

test.each([
  ['compact', JSON.stringify(sample)],
  ['with blanks', JSON.stringify(sample, null, 2)],
  ['with escapes', JSON.stringify(sample).replace('é', '\\u00e9').replace('🦆', '\\ud83e\\udd86')],
])('every beginning of a text that is %s becomes JSON with what it has', (_, text) => {
  for (let length = 1; length <= text.length; length++) {
    const closed = closeTornJson(text.slice(0, length))
    expect(isBeginning(JSON.parse(closed), sample), closed).toBe(true)
  }
  expect(JSON.parse(closeTornJson(text))).toEqual(sample)
  expect(closeTornJson(`${text} and more`)).toBe(text)
})

test('what is nested deeper than 128 is left out', () => {
  const closed = closeTornJson(`{"message":"m","a":${'[{"a":'.repeat(500_000)}`)
  expect(closed.length).toBeLessThan(1000)
  expect(JSON.parse(closed)).toMatchObject({ message: 'm', a: [{}] })
})
