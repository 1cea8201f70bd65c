import { describe, expect, test } from 'vitest'
import { toFailure } from '../../../src/core/failure.ts'
import { tryParseJson } from '../../../src/wire/json/parse.ts'

test.each([
  ['{"a":[1]}', { a: [1] }],
  ['null', null],
  [new TextEncoder().encode('"Grüße"'), 'Grüße'],
  ['', undefined],
  ['{"a":', undefined],
  [Uint8Array.of(0xff), undefined],
])('%j parses to its value', (source, value) => {
  expect(tryParseJson(source)).toEqual(value)
})

function failure(source: string | Uint8Array): unknown {
  try {
    return tryParseJson(source)
  } catch (error) {
    return toFailure(error)
  }
}

describe('a text of more than a megabyte', () => {
  const text = 'x'.repeat(1_100_000)

  test('a long text is parsed like a short one', () => {
    expect(tryParseJson(JSON.stringify({ text }))).toEqual({ text })
    expect(tryParseJson(`{"a":"${text}`)).toBeUndefined()
  })

  test.each([
    ['brackets that never end', '['.repeat(5_000_000)],
    ['nested objects', `{"text":"${text}","a":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`],
  ])('a long text nested too deeply is malformed: %s', (_, deep) => {
    const malformed = { kind: 'malformed', detail: 'its JSON is nested too deeply' }
    expect(failure(deep)).toEqual(malformed)
    expect(failure(new TextEncoder().encode(deep))).toEqual(malformed)
  })

  test('a long text with more than a million values is malformed', () => {
    const values = `[${'{},'.repeat(1_000_000)}{}]`
    expect(failure(values)).toEqual({ kind: 'malformed', detail: 'its JSON has too many values' })
  })
})
