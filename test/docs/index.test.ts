import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listPages, readHead, renderList } from '../../scripts/llms.ts'

/* Whether a reader finds each page, and sees at its head what it answers. */

const index = 'docs/README.md'
const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.md') && !file.startsWith('decisions'))
  .map((file) => join('docs', file))
  .filter((page) => page !== index)

test('the index lists every page, and llms.txt is what `npm run docs:llms` writes', () => {
  const listed = new Set(listPages(readFileSync(index, 'utf8')))
  expect(pages.filter((page) => !listed.has(page))).toEqual([])
  expect(readFileSync('llms.txt', 'utf8')).toBe(renderList())
})

test.each(pages)('%s begins with a title and a sentence that says what it answers', (page) => {
  const { title, sentence } = readHead(readFileSync(page, 'utf8'))
  expect(title).not.toBe('')
  expect(sentence).toMatch(/^\S.{15,400}\.$/)
})
