import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { nearestName } from '../../src/core/nearest-name.ts'

const names = ['port', 'host', 'api_key_env', 'first_token_timeout_ms', 'total_timeout_ms']

test.each([
  ['prot', 'port'],
  ['pot', 'port'],
  ['portt', 'port'],
  ['PORT', 'port'],
  ['first_token_timeout', 'first_token_timeout_ms'],
  ['totl_timout_ms', 'total_timeout_ms'],
])('%s is close to %s', (name, nearest) => {
  expect(nearestName(name, names)).toBe(nearest)
})

test.each([
  ['api_key', 'api_key_env'],
  ['key', 'api_key_env'],
  ['timeout_ms', 'first_token_timeout_ms'],
])('%s lacks only words of %s', (name, nearest) => {
  expect(nearestName(name, names)).toBe(nearest)
})

test.each(['', 'x', 'pxxt', 'keys', 'toString'])('%j has no near name', (name) => {
  expect(nearestName(name, names)).toBeUndefined()
})

test('one letter has no near name', () => {
  expect(nearestName('x', ['m'])).toBeUndefined()
})

test('the nearest candidate wins, and the first of equals', () => {
  expect(nearestName('abcdef', ['abcdxy', 'abcdex', 'abcdey'])).toBe('abcdex')
})

test('a near spelling wins over a longer name that contains the word', () => {
  expect(nearestName('ports', ['all_ports_ever', 'port'])).toBe('port')
})

/** The number of edits, by its definition. */
function countEdits(from: string, to: string): number {
  if (from === '' || to === '') return Math.max(from.length, to.length)
  const isSwapped = from.length > 1 && from[0] === to[1] && from[1] === to[0]
  return Math.min(
    countEdits(from.slice(1), to) + 1,
    countEdits(from, to.slice(1)) + 1,
    countEdits(from.slice(1), to.slice(1)) + (from[0] === to[0] ? 0 : 1),
    isSwapped ? countEdits(from.slice(2), to.slice(2)) + 1 : Number.POSITIVE_INFINITY,
  )
}

test('a name is near when at most a third of its letters are edited', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 2, maxLength: 7 })
  fc.assert(
    fc.property(word, word, (name, other) => {
      fc.pre(!`_${other}_`.includes(`_${name}_`))
      const limit = Math.max(1, Math.floor(name.length / 3))
      expect(nearestName(name, [other]) === other).toBe(countEdits(name, other) <= limit)
    }),
    { numRuns: 2_000 },
  )
})
