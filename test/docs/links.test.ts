import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'bench/README.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file)),
]

/** Returns the anchors that the headings of a page generate. */
function anchorsOf(page: string): ReadonlySet<string> {
  const headings = readFileSync(page, 'utf8').matchAll(/^#+ (.*)$/gm)
  return new Set(
    Array.from(headings, ([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

test.each(pages)('every link of %s points to an existing page and heading', (page) => {
  const text = readFileSync(page, 'utf8').replace(/^```[^]*?^```$/gm, '')
  const links = Array.from(text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g))
  const broken = links.filter(([, path = '', anchor]) => {
    const target = path === '' ? page : join(dirname(page), path)
    return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).has(anchor))
  })
  expect(broken.map(([link]) => link)).toEqual([])
  const pictures = Array.from(text.matchAll(/ src(?:set)?="([^"]*)"/g), ([, path = '']) => path)
  expect(pictures.filter((path) => !existsSync(join(dirname(page), path)))).toEqual([])
})
