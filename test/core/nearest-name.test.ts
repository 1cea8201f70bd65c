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
