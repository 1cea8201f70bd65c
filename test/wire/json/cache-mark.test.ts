import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CacheLife } from '../../../src/core/layout.ts'
import { maxLife } from '../../../src/wire/json/cache-mark.ts'
import { matchJson } from '../../../src/wire/json/match.ts'
import { scanLayout } from '../../../src/wire/json/scan.ts'
import { objectOf } from '../../../src/wire/json/shape.ts'
import { jsonStyles, writeJson } from '../../support/json-styles.ts'

const encoder = new TextEncoder()
const limits = { maxDepth: 128, maxValues: 200_000 }

/** Reads the marks of a JSON value in both ways, which must agree. */
function readLife(json: string): CacheLife {
  // Matching gives up on an escape in a key of a described object, but not below it.
  const bytes = encoder.encode(`{"value":${json}}`)
  const { cacheLife } = scanLayout(bytes, [])
  expect(matchJson(bytes, objectOf({}), limits)?.layout.cacheLife).toBe(cacheLife)
  return cacheLife
}

describe('a mark of prompt caching', () => {
  test.each<[CacheLife, string]>([
    ['none', '{}'],
    ['none', '{"cache_control":null}'],
    ['none', '{"content":"cache_control"}'],
    ['none', '{"a":["cache_control",{"ttl":"1h"}]}'],
    ['none', '{"cache_contro":{},"cache_controls":{},"cache-control":{}}'],
    ['5m', '{"cache_control":{"type":"ephemeral"}}'],
    ['5m', '{"cache_control":{}}'],
    ['5m', '{"cache_control":{"type":"ephemeral","ttl":"5m"}}'],
    ['5m', '{ "cache_control" : { "ttl" : "5m" , "type" : "ephemeral" } }'],
    ['5m', '{"cache_control":{"ttl":null,"type":"ephemeral"}}'],
    ['5m', '{"cache_control":true}'],
    ['5m', '{"a":[[{"b":{"cachePoint":{"type":"default"}}}]]}'],
    ['1h', '{"cachePoint":{"type":"default","ttl":"1h"}}'],
    ['1h', '{"cache_control":{"type":"ephemeral","ttl":"1h"}}'],
    ['1h', '{"cache_control":\n\t{"ttl"\r\n:\t"1h"}}'],
    ['1h', '{"cache_control":{"ttl":"5m","ttl":"1h"}}'],
    ['1h', '{"cache_control":{"ttl":"24h"}}'],
    ['1h', '{"cache_control":{"ttl":3600}}'],
    ['1h', '{"cache_control":{"type":"}","ttl":"1h"}}'],
    ['1h', '{"a":{"cache_control":{"ttl":"1h"}},"b":{"cache_control":{}}}'],
    ['1h', '{"a":{"cache_control":{}},"b":[{"cache_control":{"ttl":"1h"}}]}'],
    // In other spellings, as some parsers read them.
    ['1h', '{"cache\\u005fcontrol":{"ttl":"1h"}}'],
    ['1h', '{"\\u0063\\u0061\\u0063\\u0068\\u0065_\\u0063ontrol":{"ttl":"1h"}}'],
    ['1h', '{"cachePoin\\u0074":{"ttl":"1h"}}'],
    ['1h', '{"Cache_Control":{"TTL":"1h"}}'],
    // What is not plainly five minutes.
    ['1h', '{"cache_control":{"t\\u0074l":"5m"}}'],
    ['1h', '{"cache_control":{"ttl":"\\u0031h"}}'],
    ['1h', '{"cache_control":{"of":{"ttl":"1h"}}}'],
    ['1h', `{"cache_control":{"type":"${'x'.repeat(300)}","ttl":"5m"}}`],
  ])('%s: %s', (life, json) => {
    expect(readLife(json)).toBe(life)
  })

  /** Objects as clients write them, with marks at any depth. */
  const mark = fc.constantFrom<unknown>(
    { type: 'ephemeral' },
    { type: 'ephemeral', ttl: '5m' },
    { type: 'ephemeral', ttl: '1h' },
    { ttl: '1h', type: 'ephemeral', scope: 'global' },
    null,
  )
  const { tree } = fc.letrec<{ tree: unknown; object: unknown }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom(null, true, 1.5, 'cache_control', 'a longer text with a { and a "'),
      fc.array(tie('tree'), { maxLength: 4 }),
      tie('object'),
    ),
    object: fc
      .tuple(
        fc.dictionary(fc.string({ unit: 'binary', maxLength: 20 }), tie('tree'), { maxKeys: 4 }),
        fc.option(mark, { nil: undefined }),
      )
      .map(([members, cache_control]) => ({ ...members, cache_control })),
  }))

  function findLife(value: unknown): CacheLife {
    if (Array.isArray(value)) return value.map(findLife).reduce(maxLife, 'none')
    if (typeof value !== 'object' || value === null) return 'none'
    return Object.entries(value)
      .map(([key, member]): CacheLife => {
        if (key !== 'cache_control' || !member) return findLife(member)
        return member.ttl === '1h' ? '1h' : '5m'
      })
      .reduce(maxLife, 'none')
  }

  test('the longest one is found at any depth, however the JSON is written', () => {
    const found = new Set<CacheLife>()
    fc.assert(
      fc.property(tree, jsonStyles, (value, style) => {
        const body = { model: 'm', value }
        const life = findLife(body)
        found.add(life)
        expect(scanLayout(encoder.encode(writeJson(body, style)), []).cacheLife).toBe(life)
        const match = matchJson(encoder.encode(writeJson(body, style)), objectOf({}), limits)
        if (match) expect(match.layout.cacheLife).toBe(life)
      }),
      { numRuns: 1_000 },
    )
    expect([...found].sort()).toEqual(['1h', '5m', 'none'])
  })
})
