import { expect, test } from 'vitest'
import { jsonIn } from '../../src/wire/json.ts'

test.each([
  ['{"a":[1]}', { a: [1] }],
  ['null', null],
  [new TextEncoder().encode('"Grüße"'), 'Grüße'],
  ['', undefined],
  ['{"a":', undefined],
  [Uint8Array.of(0xff), undefined],
])('the value of %j', (source, value) => {
  expect(jsonIn(source)).toEqual(value)
})
