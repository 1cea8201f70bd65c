import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nodePorts, serve } from '../../adapters/node/index.ts'
import { checkConfig, createGateway } from '../../src/index.ts'
import { kinds } from '../../src/providers/index.ts'

/* Runs every example of the README unchanged. */

const readme = readFileSync('README.md', 'utf8')
const folder = 'test/docs/.examples'

const [hono = '', plain = ''] = blocks('ts')
const commands = blocks('sh').filter((block) => block.startsWith('curl'))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('the embedding example serves a chat completion in a Hono app', async () => {
  const { default: app } = await run('hono', hono)
  expect(await (await app.request('/')).text()).toBe('my app')
  const answer = await app.request('/llm/v1/chat/completions', ask('hello'))
  expect(answer.status).toBe(200)
  expect(await answer.text()).toContain('You said: hello')
})

test('the test example passes', async () => {
  // The example contains its own assertions.
  await expect(run('plain', plain)).resolves.toBeDefined()
})

test('every kind of provider is named', () => {
  const [, text = ''] = readme.split('**Providers:**')
  const simplify = (name: string) => name.toLowerCase().replace(/[^a-z]/g, '')
  const named = simplify(text.split('\n\n')[0] ?? '')
  const missing = kinds.filter(({ name }) => name !== 'demo' && !named.includes(simplify(name)))
  expect(missing.map(({ name }) => name)).toEqual([])
})

test('the commands that prove a promise exist, and the tarball has the name of this version', () => {
  const { scripts, version } = JSON.parse(readFileSync('package.json', 'utf8'))
  const [, table = ''] = readme.split('**Check it yourself.**')
  const named = [...table.matchAll(/\| `(npm run|npx vitest run) (\S+)(?: -- \w+)?` \|/g)]
  expect(named).toHaveLength(4)
  for (const [, runner, name = ''] of named) {
    expect(runner === 'npm run' ? scripts[name] : existsSync(name), name).toBeTruthy()
  }
  expect(readme).toContain(`npx ./model-gateway-${version}.tgz --demo`)
})

test('the configuration example is valid', async () => {
  const [config = ''] = blocks('toml')
  expect(await checkConfig(config, {})).toMatchObject({ ok: true })
})

describe('the curl examples', () => {
  let host: Awaited<ReturnType<typeof serve>>

  beforeAll(async () => {
    const config = readFileSync('demo.toml', 'utf8')
    const gateway = await createGateway({ ...nodePorts({ GATEWAY_LOG_LEVEL: 'error' }), config })
    host = await serve(gateway, { port: 0 })
  })

  afterAll(() => host.close())

  test.each(commands)('get an answer of the demo: %s', async (command) => {
    const here = command.replaceAll('http://127.0.0.1:8080', host.address)
    const { stdout } = await promisify(execFile)('sh', ['-c', here])
    expect(stdout).toContain('demo')
    expect(stdout).not.toContain('"error"')
  })
})

/** Returns the fenced blocks of a language, in order. */
function blocks(language: string): string[] {
  const fence = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms')
  return [...readme.matchAll(fence)].map((match) => match[1] ?? '')
}

/** Writes an example to a file and imports it. */
async function run(name: string, source: string) {
  mkdirSync(folder, { recursive: true })
  const file = resolve(folder, `${name}.ts`)
  writeFileSync(file, source)
  return import(/* @vite-ignore */ file)
}

function ask(content: string): RequestInit {
  return {
    method: 'POST',
    body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content }] }),
  }
}
