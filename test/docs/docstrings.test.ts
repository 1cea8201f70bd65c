import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'

/* Typechecks and runs the `@example` of every docstring unchanged. */

const folder = 'test/docs/.docstring-examples'

interface Example {
  /** The documented function. */
  readonly name: string
  readonly source: string
}

const examples = ['src', 'adapters/node', 'adapters/node/http']
  .flatMap((path) => readdirSync(path).map((file) => `${path}/${file}`))
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) => findExamples(readFileSync(file, 'utf8')))

beforeAll(() => {
  mkdirSync(folder, { recursive: true })
  for (const { name, source } of examples) writeFileSync(resolve(folder, `${name}.ts`), source)
  const paths = {
    'model-gateway/node': [resolve('adapters/node/index.ts')],
    'model-gateway': [resolve('src/index.ts')],
  }
  const project = { extends: resolve('tsconfig.json'), compilerOptions: { paths }, include: ['*'] }
  writeFileSync(resolve(folder, 'tsconfig.json'), JSON.stringify(project))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('createGateway and checkConfig have examples', () => {
  const names = examples.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['checkConfig', 'createGateway']))
})

test('the examples typecheck', async () => {
  const tsc = promisify(execFile)('npx', ['tsc', '-p', folder])
  const { stdout } = await tsc.catch((error: { stdout: string }) => error)
  // The sources have a project of their own, with other types in scope.
  expect(stdout.split('\n').filter((line) => line.startsWith(folder))).toEqual([])
})

test.each(examples)('the example of $name prints what it says', async ({ name, source }) => {
  const lines: string[] = []
  const print = (...values: unknown[]) => void lines.push(values.map(String).join(' '))
  vi.spyOn(console, 'log').mockImplementation(print)
  vi.spyOn(console, 'error').mockImplementation(print)
  await import(/* @vite-ignore */ resolve(folder, `${name}.ts`))
  vi.restoreAllMocks()
  // A comment at the beginning of a line is the output of the statement before it.
  const expected = [...source.matchAll(/^\/\/ (.+)$/gm)].map(([, text]) => text)
  expect(lines).toEqual(expected)
})

function findExamples(text: string): Example[] {
  const docstrings = text.matchAll(
    /^\/\*\*\n((?: \*.*\n)+?) \*\/\nexport (?:async )?function (\w+)/gm,
  )
  return [...docstrings].flatMap(([, comment = '', name = '']) => {
    const lines = comment.replaceAll(/^ \* ?/gm, '')
    const source = /@example\n```ts\n([^]*?)^```$/m.exec(lines)?.[1]
    return source === undefined ? [] : [{ name, source }]
  })
}
