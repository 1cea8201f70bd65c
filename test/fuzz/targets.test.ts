import { existsSync, readdirSync, readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type FuzzTarget, toBytes } from './target.ts'
import { targets } from './targets/index.ts'

const found = new URL('../fixtures/fuzz/', import.meta.url)

/** Inputs that consist of words and random bytes, or of a seed with some of those in it. */
function inputs({ seeds, words }: FuzzTarget): fc.Arbitrary<Uint8Array> {
  const word = fc.constantFrom(...words).map(toBytes)
  const piece = fc.oneof({ weight: 3, arbitrary: word }, fc.uint8Array({ maxLength: 4 }))
  const pieces = fc.array(piece, { maxLength: 20 }).map((all) => Buffer.concat(all))
  const changed = fc
    .tuple(fc.constantFrom(...seeds).map(toBytes), fc.array(fc.tuple(fc.nat(), fc.nat(8), piece)))
    .map(([seed, changes]) =>
      changes.slice(0, 4).reduce((bytes, [place, length, added]) => {
        const at = place % (bytes.length + 1)
        return Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + length)])
      }, Buffer.from(seed)),
    )
  return fc.oneof(pieces, changed)
}

/** Resolves when the rules hold. The input is a copy of its own, like a network chunk. */
async function check(target: FuzzTarget, input: Uint8Array): Promise<void> {
  await target.check(Uint8Array.from(input))
}

describe.each(Object.entries(targets))('%s', (name, target) => {
  test('the rules hold for every seed', async () => {
    for (const seed of target.seeds) {
      await expect(check(target, toBytes(seed))).resolves.toBeUndefined()
    }
  })

  test('the rules hold for random inputs', async () => {
    await fc.assert(
      fc.asyncProperty(inputs(target), (input) => check(target, input)),
      { numRuns: 200 },
    )
  })

  test('a long input takes time in proportion to its length', async () => {
    // In quadratic time each of them would take minutes.
    for (const word of target.words) {
      const bytes = toBytes(word)
      const long = new Uint8Array(256 * 1024)
      for (let at = 0; at + bytes.length <= long.length; at += bytes.length) long.set(bytes, at)
      await expect(check(target, long)).resolves.toBeUndefined()
    }
  })

  const folder = new URL(`${name}/`, found)
  const inputsFound = existsSync(folder) ? readdirSync(folder) : []
  test.each(inputsFound)('the rules hold for the found input %s', async (file) => {
    const input = readFileSync(new URL(file, folder))
    await expect(check(target, input)).resolves.toBeUndefined()
  })
})

test('every folder of found inputs belongs to a target', () => {
  const folders = existsSync(found) ? readdirSync(found) : []
  expect(folders.filter((name) => !(name in targets))).toEqual([])
})
