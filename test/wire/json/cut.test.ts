import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutMembers, cutPaths } from '../../../src/wire/json/cut.ts'

test.each([
  ['[1,{"a":[2,3]} ,4]', ['1.a.0'], '[1,{"a":[3]} ,4]'],
  ['[1,{"a":[2,3]} ,4]', ['1'], '[1 ,4]'],
  ['[ 1 , 2 ]', ['0', '1'], '[  ]'],
  ['{"a":1,"b":{"c":2, "d":[]}}', ['a', 'b.c'], '{"b":{"d":[]}}'],
  ['{"a":1,"b":2,"a":3}', ['a'], '{"b":2}'],
  ['{"a":1}', ['b', 'a.c', '0'], '{"a":1}'],
  ['12', ['0'], '12'],
])('%s without %j is %s', (json, paths, rest) => {
  expect(cutPaths(json, paths)).toBe(rest)
})

test('what is left parses to the value without those items', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.jsonValue())),
      fc.array(fc.nat(3)),
      fc.nat(2),
      (rows, cut, indent) => {
        const paths = cut.map((at) => `${at % 2}.${at}`)
        const kept = rows.map((row, r) => row.filter((_, at) => !paths.includes(`${r}.${at}`)))
        const json = JSON.stringify(rows, undefined, indent)
        expect(JSON.parse(cutPaths(json, paths))).toEqual(JSON.parse(JSON.stringify(kept)))
        expect(JSON.parse(cutMembers(json, '*.*'))).toEqual(rows.map(() => []))
      },
    ),
  )
})
