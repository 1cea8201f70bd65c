import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CancelScope } from '../../../src/wire/cancel-scope.ts'
import {
  type CanonicalMember,
  readCanonicalMembers,
  writeCanonicalObject,
} from '../../../src/wire/json/canonical.ts'
import { TimeSlice } from '../../../src/wire/time-slice.ts'
import { ManualClock } from '../../support/manual-clock.ts'

const clock = new ManualClock()
const slice = new TimeSlice(clock, new CancelScope(clock))

/** The text is short, so it is read at once. */
const canonicalize = (json: string) =>
  writeCanonicalObject(readCanonicalMembers(json, slice) as readonly CanonicalMember[])

describe('canonical JSON', () => {
  test.each([
    ['{}', '{}'],
    [' { "b" : 1 , "a" : [ ] } ', '{"a":[],"b":1}'],
    ['{"a":{"y":1,"x":{"d":2,"c":3}}}', '{"a":{"x":{"c":3,"d":2},"y":1}}'],
    ['{"a":[3,1,2]}', '{"a":[3,1,2]}'],
    [
      '{"a":1.0,"b":1e2,"c":-0,"d":12345678901234567890}',
      '{"a":1.0,"b":1e2,"c":-0,"d":12345678901234567890}',
    ],
    ['{"\\u0061":"\\u00e9\\/\\n\\"\\\\"}', '{"a":"é/\\n\\"\\\\"}'],
    ['{"a":"\\ud800"}', '{"a":"\\ud800"}'],
    ['{"b":1,"a":2,"a":1}', '{"a":2,"a":1,"b":1}'],
    ['{"a":[true,false,null,"",{"b":[]}]}', '{"a":[true,false,null,"",{"b":[]}]}'],
    ['{"__proto__":1,"constructor":2}', '{"__proto__":1,"constructor":2}'],
  ])('%s', (json, expected) => {
    expect(canonicalize(json)).toBe(expected)
  })

  test('has the value of the text, and is the same for every order, notation and blank', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 3 })),
        fc.boolean(),
        (value, isEscaped) => {
          const plain = canonicalize(JSON.stringify(value))
          const mixed = JSON.stringify(shuffle(value), undefined, 2)
          expect(canonicalize(isEscaped ? escape(mixed) : mixed)).toBe(plain)
          expect(JSON.parse(plain)).toEqual(JSON.parse(JSON.stringify(value)))
        },
      ),
    )
  })

  test('of a long text is the same, read in steps', async () => {
    const items = Array.from({ length: 20_000 }, (_, at) => ({ b: `\n"${at}`, a: [at] }))
    const json = JSON.stringify({ z: items, y: 'long'.repeat(20_000), x: 1 })
    const members = await readCanonicalMembers(json, slice)
    expect(writeCanonicalObject(members)).toBe(writeSorted(JSON.parse(json)))
  })

  test('differs for values that differ', () => {
    const value = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }))
    fc.assert(
      fc.property(value, value, (a, b) => {
        const isEqual = canonicalize(JSON.stringify(a)) === canonicalize(JSON.stringify(b))
        expect(isEqual).toBe(writeSorted(a) === writeSorted(b))
      }),
    )
  })
})

/** Reverses the members of every object. */
function shuffle(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffle)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, member]) => [key, shuffle(member)] as const)
  return Object.fromEntries(entries.toReversed())
}

/** Escapes the letters of a JSON text that are inside of strings. */
function escape(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"/g, (text) =>
    text.replace(/\\u[\da-f]{4}|\\.|[^\\"]/g, (unit) =>
      unit.length > 1 ? unit : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  )
}

function writeSorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeSorted).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, member]) => `${JSON.stringify(key)}:${writeSorted(member)}`).join()}}`
}
