import { request as sendRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serveConsole } from '../../../adapters/node/console/server.ts'
import { masterKey } from '../support/keyed-host.ts'
import { openWorld, pageFolder, type World } from './served.ts'

const config = `
[[providers]]
name = "demo"
kind = "demo"
models = [{ id = "demo" }]
`

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

interface Browser extends World {
  /** Sends a request as a script of the page, with the token of the session if there is one. */
  send(path: string, init?: RequestInit): Promise<Answer>
  /** Gets the token for the code of the printed link. */
  logIn(): Promise<void>
}

async function open(): Promise<Browser> {
  const world = await openWorld({ config })
  const { origin, hash } = new URL(world.console.link)
  let token = ''
  const send = async (path: string, init: RequestInit = {}) => {
    const headers = { 'x-console-token': token, ...init.headers }
    const response = await fetch(new URL(path, origin), { ...init, headers })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  return {
    ...world,
    send,
    async logIn() {
      const body = hash.slice('#code='.length)
      token = JSON.parse((await send('/session', { method: 'POST', body })).text).token
    },
  }
}

describe('the server of the console', () => {
  test('the page loads nothing from elsewhere and runs no inline script', async () => {
    const { send } = await open()
    const { headers, text: html } = await send('/')
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).not.toContain('unsafe')
    expect(html).not.toMatch(/<script(?![^>]* src="\/)|<style|style=|https?:/)
    for (const path of ['/console.js', '/console.css', '/icon.svg']) {
      expect(await send(path)).toMatchObject({ status: 200 })
    }
  })

  test('only the code of this run opens a session, and no answer sets a cookie', async () => {
    const { send, console: served } = await open()
    const wrong = await send('/session', { method: 'POST', body: 'wrong' })
    expect(wrong.status).toBe(403)
    const body = new URL(served.link).hash.slice('#code='.length)
    const right = await send('/session', { method: 'POST', body })
    expect(right.status).toBe(200)
    expect(JSON.parse(right.text)).toEqual({ token: expect.stringMatching(/^[\w-]{43}$/) })
    // A browser sends the cookies of one port to all ports of the host.
    for (const { headers } of [wrong, right]) expect(headers.get('set-cookie')).toBeNull()
  })

  test('the page learns where the gateway is, once it is logged in', async () => {
    const { send, logIn, host } = await open()
    expect(await send('/gateway')).toMatchObject({ status: 401 })
    await logIn()
    const { status, text: body } = await send('/gateway')
    expect([status, JSON.parse(body)]).toEqual([200, { address: host.address }])
  })

  test.each(['/api/admin/keys', '/api/admin/status', '/api/v1/models'])(
    'without the token of the session %s is 401',
    async (path) => {
      const { send, logIn, console: served } = await open()
      expect(await send(path)).toMatchObject({ status: 401 })
      await logIn()
      const code = new URL(served.link).hash.slice('#code='.length)
      for (const token of ['', 'guess', code]) {
        const headers = { 'x-console-token': token }
        expect(await send(path, { headers })).toMatchObject({ status: 401 })
      }
      expect(await send(path)).toMatchObject({ status: 200 })
    },
  )

  test('a page of another origin is refused, even with the token', async () => {
    const { send, logIn, console: served } = await open()
    await logIn()
    const { origin, port } = new URL(served.link)
    const statusFor = async (from: string) =>
      (await send('/api/admin/keys', { headers: { origin: from } })).status
    expect(await statusFor(origin)).toBe(200)
    const foreign = [
      `http://127.0.0.1:${Number(port) - 1}`,
      `http://localhost:${port}`,
      `https://127.0.0.1:${port}`,
      'null',
    ]
    for (const from of foreign) expect(await statusFor(from)).toBe(403)
    const headers = { origin: 'http://127.0.0.1:1' }
    const body = new URL(served.link).hash.slice('#code='.length)
    expect(await send('/session', { method: 'POST', body, headers })).toMatchObject({ status: 403 })
  })

  test('no other origin is allowed to send the header of the token', async () => {
    const { send } = await open()
    const asked = { 'access-control-request-headers': 'x-console-token' }
    for (const from of ['http://127.0.0.1:1', 'http://attacker.example']) {
      const headers = { origin: from, 'access-control-request-method': 'GET', ...asked }
      const preflight = await send('/api/admin/keys', { method: 'OPTIONS', headers })
      expect(preflight.status).toBe(403)
      expect([...preflight.headers.keys()].join()).not.toContain('access-control')
    }
  })

  test('a name that resolves to this machine does not open the console, even with the token', async () => {
    const { send, logIn, console: served } = await open()
    await logIn()
    const { port, hash } = new URL(served.link)
    const code = hash.slice('#code='.length)
    const { token } = JSON.parse((await send('/session', { method: 'POST', body: code })).text)
    const statusFor = (host: string, path = '/') =>
      new Promise((resolve, reject) => {
        const headers = { host, 'x-console-token': token }
        const options = { port, path, host: '127.0.0.1', headers }
        const request = sendRequest(options, (response) => {
          void text(response).then(() => resolve(response.statusCode), reject)
        })
        request.on('error', reject).end()
      })
    const foreign = [
      `attacker.example:${port}`,
      `127.0.0.1.nip.io:${port}`,
      '127.0.0.1',
      'localhost:1',
    ]
    for (const host of foreign) {
      expect(await statusFor(host)).toBe(421)
      expect(await statusFor(host, '/api/admin/keys')).toBe(421)
    }
    expect(await statusFor(`localhost:${port}`)).toBe(200)
    expect(await statusFor(`localhost:${port}`, '/api/admin/keys')).toBe(200)
  })

  test.each([
    ['GET', '/api/admin/config'],
    ['PUT', '/api/admin/config'],
    ['PUT', '/api/admin/provider-keys/demo'],
    ['GET', '/api/admin/webhooks'],
    ['DELETE', '/api/admin/cache'],
    ['POST', '/api/admin/groups/x/rotate'],
    ['GET', '/api/admin/keys/../config'],
    ['GET', '/api/admin/keys/%2e%2e/config'],
    ['DELETE', '/api/v1/models'],
    ['GET', '/api/metrics'],
    ['GET', '/api/admin/providers/demo/check'],
    ['POST', '/api/admin/providers/demo'],
    ['POST', '/api/admin/providers/x/../../config/check'],
  ])('%s %s is not forwarded', async (method, path) => {
    const { send, logIn } = await open()
    await logIn()
    expect(await send(path, { method })).toMatchObject({ status: 404 })
  })

  test('the chat has a key of its own, which is deleted when the console closes', async () => {
    const { send, logIn, host, console: served } = await open()
    await logIn()
    expect((await host.admin('GET', '/admin/keys')).body).toEqual({ keys: [] })
    const body = JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Hi' }] })
    const answer = await send('/api/v1/chat/completions', { method: 'POST', body })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-gateway-model-used')).toBe('demo')
    const { body: during } = await host.admin('GET', '/admin/keys')
    expect(during).toMatchObject({ keys: [{ name: 'console', expires_at: expect.any(Number) }] })
    await served.close()
    expect((await host.admin('GET', '/admin/keys')).body).toEqual({ keys: [] })
  })

  test('the chat gets another key when its own has expired or was deleted', async () => {
    const { send, logIn, host } = await open()
    await logIn()
    const listKeys = async () => {
      const { body } = await host.admin('GET', '/admin/keys')
      return (body['keys'] as { id: string }[]).map(({ id }) => id)
    }
    expect(await send('/api/v1/models')).toMatchObject({ status: 200 })
    const [first] = await listKeys()
    await host.admin('DELETE', `/admin/keys/${first}`)
    const answers = await Promise.all([send('/api/v1/models'), send('/api/v1/models')])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    const keys = await listKeys()
    expect(keys).toHaveLength(1)
    expect(keys).not.toContain(first)
  })

  test('an error of the gateway arrives as it is, and no answer holds a secret', async () => {
    const { send, logIn } = await open()
    await logIn()
    const body = JSON.stringify({ name: '' })
    const refused = await send('/api/admin/keys', { method: 'POST', body })
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('LM-1001')
    const reports = ['status', 'requests', 'models', 'routes', 'settings', 'audit']
    const paths = [...reports, 'keys', 'groups', 'usage', 'usage/parts']
    for (const path of paths) {
      const { status, text: shown } = await send(`/api/admin/${path}`)
      expect(status).toBe(200)
      expect(shown).not.toContain(masterKey)
    }
  })

  test('a master key that the gateway no longer accepts is 502, so that the page stays logged in', async () => {
    const { host } = await open()
    const gateway = host.address
    const options = { gateway, masterKey: 'ab'.repeat(32), port: 0, folder: pageFolder }
    const served = await serveConsole(options)
    onTestFinished(() => served.close())
    const { origin, hash } = new URL(served.link)
    const body = hash.slice('#code='.length)
    const opened = await fetch(`${origin}/session`, { method: 'POST', body })
    const { token } = (await opened.json()) as { token: string }
    const headers = { 'x-console-token': token }
    const answer = await fetch(`${origin}/api/admin/status`, { headers })
    expect(answer.status).toBe(502)
    expect(await answer.text()).toContain('does not accept the master key')
  })

  test('a gateway that does not answer is 502, and the console goes on', async () => {
    const { send, logIn, host } = await open()
    await logIn()
    await host.close()
    expect(await send('/api/admin/status')).toMatchObject({ status: 502 })
    expect(await send('/')).toMatchObject({ status: 200 })
  })

  test('a body over 1 MiB is 413', async () => {
    const { send, logIn } = await open()
    await logIn()
    const body = 'x'.repeat(1024 * 1024 + 1)
    expect(await send('/api/admin/keys', { method: 'POST', body })).toMatchObject({ status: 413 })
  })
})
