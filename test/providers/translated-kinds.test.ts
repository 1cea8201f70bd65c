import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { vendorStreams } from '../../bench/vendor-streams.ts'
import { apiFamilies } from '../../src/providers/translation/conditions.ts'
import { listUncovered, translatedKinds } from '../support/translated-kinds.ts'
import { contractCases } from './cases/index.ts'
import { vendors } from './round-trip/vendors.ts'

/* Finds what is missing for a translated kind, because other tests pass without it. */

test.each(translatedKinds)('$name has its tests, pages and streams', ({ name, api }) => {
  const families: readonly (string | undefined)[] = apiFamilies
  const parts = {
    'the column: its translation calls filterUnsupported': families.includes(api),
    [`test/providers/cases/${name}.ts, and its entry in cases/index.ts`]: contractCases.some(
      ({ kind }) => kind === name,
    ),
    'test/providers/round-trip/vendors.ts: a vendor of its API': isCovered(
      name,
      vendors.map(({ kind }) => kind),
    ),
    'bench/vendor-streams.ts: a stream of its API': isCovered(name, Object.keys(vendorStreams)),
    ...listFiles(name),
    'docs/README.md: a link to its page': hasLink('docs/README.md', name),
    'scripts/translation-page.ts: a link to its page': hasLink('docs/translation.md', name),
  }
  const missing = Object.entries(parts).flatMap(([part, isThere]) => (isThere ? [] : [part]))
  expect(missing, `missing for ${name}`).toEqual([])
})

test('every column of the translation table belongs to a kind', () => {
  expect(new Set(translatedKinds.map(({ api }) => api))).toEqual(new Set(apiFamilies))
})

/** A kind needs no entry of its own where another kind with the same API has one. */
function isCovered(name: string, covered: readonly string[]): boolean {
  return !listUncovered(covered).includes(name)
}

/** Returns the files that each kind has, and whether they exist. */
function listFiles(name: string): Record<string, boolean> {
  const files = [
    `docs/providers/${name}.md`,
    `test/fixtures/${name}/answers.json`,
    `test/fixtures/${name}/requests.json`,
    `test/fixtures/${name}/streams.json`,
  ]
  return Object.fromEntries(files.map((file) => [file, existsSync(file)]))
}

function hasLink(page: string, name: string): boolean {
  return readFileSync(page, 'utf8').includes(`(providers/${name}.md)`)
}
