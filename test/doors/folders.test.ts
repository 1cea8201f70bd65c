import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { doors } from '../../src/doors/index.ts'

const root = new URL('../../src/doors/', import.meta.url)
const folders = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

/** The files of every door, and those of a door that translates. */
const common = ['door.ts', 'request.ts', 'stream.ts']
const translating = ['answer.ts', 'chat-request.ts', 'error.ts', 'native.ts']

function listFiles(folder: string): string[] {
  return readdirSync(new URL(`${folder}/`, root))
}

test('every door has a folder of its name and a row', () => {
  expect(doors.map(({ api }) => api).sort()).toEqual(folders.sort())
})

test.each(folders)('the folder %s has the files of a door', (folder) => {
  const files = listFiles(folder)
  expect(files).toEqual(expect.arrayContaining(common))
  const isTranslating = files.includes('chat-request.ts')
  if (isTranslating) expect(files).toEqual(expect.arrayContaining(translating))
})

test.each(folders)('the door %s names no other door', (folder) => {
  const others = folders.filter((name) => name !== folder)
  const sources = listFiles(folder).map((file) =>
    readFileSync(new URL(`${folder}/${file}`, root), 'utf8'),
  )
  const named = others.filter((name) => sources.some((text) => text.includes(`'../${name}/`)))
  expect(named).toEqual([])
})

test('the pages of the documentation list the files of a door', () => {
  const page = readFileSync(
    new URL('../../docs/development/add-a-door.md', import.meta.url),
    'utf8',
  )
  const listed = Array.from(page.matchAll(/^\| `([\w-]+\.ts)` \|/gm), ([, name]) => name)
  expect(listed.sort()).toEqual([...common, ...translating].sort())
})
