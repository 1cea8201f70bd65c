import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nodePorts, type Serving, serve } from '../../adapters/node/index.ts'
import { renderClientsPage } from '../../scripts/clients-page.ts'
import { createGateway } from '../../src/index.ts'
import { blocksOf } from './shell.ts'

/* Runs the programs of the page unchanged, except for the port. */

const folder = 'test/docs/.client-examples'
const blocks = blocksOf('docs/clients.md')
const programs = blocks.filter(({ info }) => info.startsWith('ts '))
const scripts = blocks.filter(({ info }) => info === 'python')
const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], GATEWAY_KEY: 'any' }
const run = promisify(execFile)

let serving: Serving

beforeAll(async () => {
  mkdirSync(folder, { recursive: true })
  const config = '[[providers]]\nname = "demo"\nkind = "demo"\nmodels = [{ id = "demo" }]'
  const gateway = await createGateway({ ...nodePorts({ GATEWAY_LOG_LEVEL: 'error' }), config })
  serving = await serve(gateway, { host: '127.0.0.1', port: 0 })
})

afterAll(async () => {
  await serving.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Writes a program with the address of this gateway, and runs it. */
async function runProgram(name: string, text: string, command: readonly [string, ...string[]]) {
  const file = resolve(folder, name)
  writeFileSync(file, text.replaceAll('http://127.0.0.1:8080', serving.address))
  const [executable, ...args] = command
  const { stdout } = await run(executable, [...args, file], { env })
  return stdout
}

test.each([
  ['conformance', 'node'],
  ['conformance-compatible', 'compatible'],
])('the table %s is that of the last run', (shownMark, mark) => {
  const between = (page: string, name: string) =>
    readFileSync(page, 'utf8').split(`<!-- ${name} -->`)[1]?.split(`<!-- /${name} -->`)[0] ?? ''
  const rows = (text: string) => text.split('\n').filter((line) => line.startsWith('|'))
  const shown = rows(between('docs/clients.md', shownMark))
  expect(shown).toEqual(rows(between('docs/conformance.md', mark)))
  expect(shown.length).toBeGreaterThan(2)
})

test('the page has the lines that the console shows', () => {
  expect(readFileSync('docs/clients.md', 'utf8'), 'run npm run docs:clients').toBe(
    renderClientsPage(),
  )
})

test('curl prints the answer', async () => {
  const { text = '' } = blocks.find(({ info }) => info === 'sh curl') ?? {}
  expect(await runProgram('curl.sh', text, ['bash'])).toContain('You said: Hello!')
})

describe('the programs', () => {
  test.each(programs.map(({ info, text }) => [info.slice('ts '.length), text] as const))(
    '%s prints the answer',
    async (name, text) => {
      const command = [process.execPath, '--import', 'tsx'] as const
      expect(await runProgram(`${name}.ts`, text, command)).toContain('You said: Hello!')
    },
  )

  const packages = ['openai', 'langchain_openai']
  for (const [index, { text }] of scripts.entries()) {
    const name = packages.find((each) => text.includes(`from ${each} `)) ?? ''
    const isThere = spawnSync('python3', ['-c', `import ${name}`]).status === 0
    if (!isThere) console.warn(`SKIPPED: Python has no ${name}, so its example is not run`)
    test.skipIf(!isThere)(`${name} for Python prints the answer`, async () => {
      const said = await runProgram(`example-${index}.py`, text, ['python3'])
      expect(said).toContain('You said: Hello!')
    })
  }
})
