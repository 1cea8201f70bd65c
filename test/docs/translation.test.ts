import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { renderTranslationPage } from '../../scripts/translation-page.ts'

test('docs/translation.md is up to date with the translation table', () => {
  const page = readFileSync(new URL('../../docs/translation.md', import.meta.url), 'utf8')
  expect(page, 'run npm run docs:translation').toBe(renderTranslationPage())
})
