import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parts } from '../../scripts/proof/parts/index.ts'

const page = readFileSync('docs/proof.md', 'utf8')

/** The names of the parts that have a section, with the text of each. */
const sections = [...page.matchAll(/<!-- (\w[\w-]*) -->\n([^]*?)<!-- \/\1 -->/g)].map(
  ([, name, text]) => ({ name, text }),
)

test('the page has a section for every part, and no other', () => {
  expect(sections.map(({ name }) => name)).toEqual(parts.map(({ name }) => name))
})

test.each(parts)(
  'the section of $name has the figures of a run in which all of them held',
  ({ name, title }) => {
    const text = sections.find((section) => section.name === name)?.text
    expect(text).toContain(`## ${title}`)
    expect(text).toMatch(/TEST_SEED=\d+ npm run proof/)
    expect(text).toContain('✓')
    expect(text).not.toContain('✗')
  },
)
