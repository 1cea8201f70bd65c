import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { errorTable } from '../../src/core/errors.ts'

const rows = Array.from(
  readFileSync('docs/api.md', 'utf8').matchAll(/^\| (LM-\d{4}) \| (.*?) \| (.*) \|$/gm),
  ([, code = '', status = '', meaning = '']) => ({ code, status, meaning: toPlainText(meaning) }),
)

function toPlainText(markdown: string): string {
  return markdown.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '')
}

test('docs/api.md lists every error code once, in the order of the table in the source', () => {
  expect(rows.map(({ code }) => code)).toEqual(Object.keys(errorTable))
})

test.each(Object.entries(errorTable))(
  'docs/api.md gives %s the status and the meaning that the source gives it',
  (code, { status, meaning }) => {
    const row = rows.find((one) => one.code === code)
    expect(row?.status).toContain(String(status))
    // The page may add a detail to the meaning.
    const [first] = (row?.meaning ?? '').split(/; | \(|\. /)
    expect(first).toBe(meaning)
  },
)
