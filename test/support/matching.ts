import { isUtf8 } from 'node:buffer'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRandom, mutate } from '../../scripts/fuzz/mutate.ts'
import type { IsUtf8 } from '../../src/core/ports.ts'
import { type FuzzTarget, toBytes } from '../fuzz/target.ts'
import { jsonStyles, writeJson } from './json-styles.ts'

/** Requests with these members, in any order and as clients write them. */
export function writtenRequests(members: fc.Arbitrary<object>): fc.Arbitrary<Uint8Array> {
  return members
    .chain((request) => {
      const entries = Object.entries(request)
      const shuffled = fc.shuffledSubarray(entries, { minLength: entries.length })
      return fc.tuple(shuffled, jsonStyles)
    })
    .map(([entries, style]) => toBytes(writeJson(Object.fromEntries(entries), style)))
}

export interface MatchingOptions {
  /** Requests as SDKs write them. */
  readonly requests: fc.Arbitrary<Uint8Array>
  /** Reads a request in its bytes; undefined when it must be parsed. */
  readonly match: (bytes: Uint8Array, isUtf8: IsUtf8) => unknown
  /** Compares a request that is read in its bytes with the parsed one. */
  readonly target: FuzzTarget
}

/** Compares what is read of a request in its bytes with what its parser and its schema read. */
export function testMatching({ requests, match, target }: MatchingOptions): void {
  const isMatched = (bytes: Uint8Array) => match(bytes, isUtf8) !== undefined

  test('every ordinary request is read without parsing, with the facts of the parsed one', async () => {
    let matched = 0
    const numRuns = 1_000
    await fc.assert(
      fc.asyncProperty(requests, async (bytes) => {
        if (isMatched(bytes)) matched++
        await target.check(bytes)
      }),
      { numRuns },
    )
    expect(matched).toBe(numRuns)
  })

  test('whatever is read without parsing, the parser and the schema accept with the same facts', async () => {
    const corpus = [...fc.sample(requests, 300), ...target.seeds.map(toBytes)]
    const material = { corpus, words: target.words.map(toBytes), maxBytes: 20_000 }
    const random = createRandom(fc.sample(fc.integer(), 1)[0] ?? 1)
    let matched = 0
    for (let run = 0; run < 15_000; run++) {
      const bytes = mutate(material, random)
      if (isMatched(bytes)) matched++
      await target.check(bytes)
    }
    // Most changes leave the JSON broken; those in texts do not.
    expect(matched).toBeGreaterThan(200)
    expect(matched).toBeLessThan(14_000)
  })
}
