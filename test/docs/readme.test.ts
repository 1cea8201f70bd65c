import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nodePorts, serve } from '../../adapters/node/index.ts'
import { checkConfig, createGateway } from '../../src/index.ts'

/* Runs every example of the README unchanged. */

const readme = readFileSync('README.md', 'utf8')
const folder = 'test/docs/.examples'

const [hono = '', bare = '', edge = '', plain = ''] = blocks('ts')
const commands = blocks('sh').filter((block) => block.startsWith('curl'))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the embedding examples', () => {
  test('serve a chat completion in a Hono app', async () => {
    const { default: app } = await run('hono', hono)
    expect(await (await app.request('/')).text()).toBe('my app')
    const answer = await app.request('/llm/v1/chat/completions', ask('hello'))
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('You said: hello')
  })

  test('serve a chat completion in a bare node:http server', async () => {
    const { server } = (await run('bare', bare)) as { server: Server }
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const address = `http://127.0.0.1:${port}`
    expect(await (await fetch(address)).text()).toBe('my app')
    const answer = await fetch(`${address}/v1/chat/completions`, ask('hello'))
    expect(await answer.text()).toContain('You said: hello')
    server.closeAllConnections()
    server.close()
  })

  test('serve a chat completion in an edge runtime', async () => {
    const { default: worker } = await run('edge', edge)
    const url = 'http://worker/v1/chat/completions'
    const answer = await worker.fetch(new Request(url, ask('hello')))
    expect(await answer.text()).toContain('You said: hello')
  })
})

test('the test example passes', async () => {
  // The example contains its own assertions.
  await expect(run('plain', plain)).resolves.toBeDefined()
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
