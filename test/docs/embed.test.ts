import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { rawClient } from '../node/support/raw-client.ts'
import { blocksOf } from './shell.ts'

/* Runs the TypeScript examples of the page unchanged. */

const folder = 'test/docs/.embed-examples'
const completions = '/v1/chat/completions'

beforeAll(() => {
  mkdirSync(folder, { recursive: true })
  for (const { info, text } of blocksOf('docs/embed.md')) {
    const [language, name] = info.split(' ')
    if (language === 'ts') writeFileSync(resolve(folder, `${name}.ts`), text)
  }
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('node:http', () => {
  test('the gateway and other routes both work', async () => {
    const { server } = await example('bare')
    // The example exports a server of node:http.
    const url = await listening(server as Server)
    expect(await (await fetch(url)).text()).toBe('my app')
    const answer = await fetch(`${url}${completions}`, ask('hello'))
    expect(await answer.text()).toContain('You said: hello')
  })
})

describe('workerd, Bun and Deno', () => {
  test('the module answers a request with web standards alone', async () => {
    const { default: worker } = await example('edge')
    const { fetch: answer } = worker as { fetch: (request: Request) => Promise<Response> }
    const response = await answer(new Request(`http://worker${completions}`, ask('hello')))
    expect(await response.text()).toContain('You said: hello')
  })
})

describe('Express', () => {
  test('the gateway and routes behind a body parser both work', async () => {
    const { app } = await example('express')
    const url = await listening(createServer(app as RequestListener))
    const answer = await fetch(`${url}/llm${completions}`, ask('hello', true))
    expect(await answer.text()).toMatch(/^data: [^]*data: \[DONE\]\n\n$/)
    const echo = await fetch(`${url}/echo`, ask('hello'))
    expect(await echo.json()).toMatchObject({ model: 'demo' })
  })
})

describe('Next.js', () => {
  test('the route handler answers GET and streams the answer to POST', async () => {
    const { GET, POST, runtime } = await example('next')
    expect(runtime).toBe('nodejs')
    // The exported handlers take a request and return a response.
    const [get, post] = [GET, POST] as ((request: Request) => Promise<Response>)[]
    const models = await get?.(new Request('http://next/v1/models'))
    expect(models).toBeInstanceOf(Response)
    expect(await models?.json()).toMatchObject({ data: [{ id: 'demo' }] })
    const answer = await post?.(new Request(`http://next${completions}`, ask('hello', true)))
    expect(await answer?.text()).toMatch(/^data: [^]*data: \[DONE\]\n\n$/)
  })
})

describe('a request with an Upgrade header', () => {
  const post = (upgrade: string) => {
    const { body } = ask('hello')
    return (
      `POST /llm${completions} HTTP/1.1\r\nhost: a\r\nconnection: upgrade, http2-settings\r\n` +
      `upgrade: ${upgrade}\r\nhttp2-settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n` +
      `content-length: ${String(body).length}\r\n\r\n${body}`
    )
  }
  const handshake =
    'GET /llm/v1/realtime HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n' +
    'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'

  test('without a listener, h2c is served over HTTP/1.1 and a WebSocket handshake is 404', async () => {
    const { app } = await example('express')
    const { port } = new URL(await listening(createServer(app as RequestListener)))
    const client = rawClient(Number(port))
    client.send(post('h2c'))
    expect(await client.until('You said: hello')).toMatch(/^HTTP\/1\.1 200 /)
    client.send(handshake)
    expect(await client.until('LM-1003')).toContain('HTTP/1.1 404 ')
    client.socket.destroy()
  })

  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const canChoose = major > 24 || (major === 24 && minor >= 9) || (major === 22 && minor >= 21)

  test.skipIf(!canChoose)(
    'with a listener for WebSockets, a handshake reaches the gateway if shouldUpgradeCallback declines it',
    async () => {
      const { server } = await example('upgrade')
      // The example exports a server of node:http.
      const host = server as Server
      host.on('upgrade', (_, socket) => socket.end('HTTP/1.1 101 Mine\r\n\r\n'))
      const { port } = new URL(await listening(host))
      const java = rawClient(Number(port))
      java.send(post('h2c'))
      expect(await java.until('You said: hello')).toMatch(/^HTTP\/1\.1 200 /)
      java.socket.destroy()
      const browser = rawClient(Number(port))
      browser.send(handshake)
      expect(await browser.until('Mine')).toContain('101')
    },
  )
})

test('the shutdown example stops the gateway without an error', async () => {
  const { stop } = await example('end')
  await expect((stop as () => Promise<void>)()).resolves.toBeUndefined()
})

async function example(name: string): Promise<Record<string, unknown>> {
  return import(/* @vite-ignore */ resolve(folder, `${name}.ts`))
}

async function listening(server: Server): Promise<string> {
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A server that listens on TCP has an address of this form.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function ask(content: string, stream = false): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', stream, messages: [{ role: 'user', content }] }),
  }
}
