import { request as sendRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { masterKey } from '../support/keyed-host.ts'
import { type BuiltThread, buildThread } from '../support/store.ts'
import { type BuiltPage, buildPage, openWorld, type World } from './served.ts'

let thread: BuiltThread
let page: BuiltPage

beforeAll(async () => {
  thread = await buildThread()
  page = await buildPage()
})

afterAll(() => {
  thread.remove()
  page.remove()
})

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
  /** Sends a request as a script of the page, with the cookie of the session if there is one. */
  send(path: string, init?: RequestInit): Promise<Answer>
  /** Gets the cookie for the code of the printed link. */
  logIn(): Promise<void>
}

async function open(): Promise<Browser> {
  const world = await openWorld({ thread, page, config })
  const { origin, hash } = new URL(world.console.link)
  let cookie = ''
  const send = async (path: string, init: RequestInit = {}) => {
    const headers = { 'x-console': '1', cookie, ...init.headers }
    const response = await fetch(new URL(path, origin), { ...init, headers })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  return {
    ...world,
    send,
    async logIn() {
      const body = hash.slice('#code='.length)
      const { headers } = await send('/session', { method: 'POST', body })
      cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
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

  test('only the code of this run opens a session, and the cookie is kept from scripts', async () => {
    const { send, console: served } = await open()
    const wrong = await send('/session', { method: 'POST', body: 'wrong' })
    expect(wrong.status).toBe(403)
    expect(wrong.headers.get('set-cookie')).toBeNull()
    const body = new URL(served.link).hash.slice('#code='.length)
    const right = await send('/session', { method: 'POST', body })
    expect(right.status).toBe(204)
    expect(right.headers.get('set-cookie')).toMatch(/HttpOnly; SameSite=Strict/)
  })

  test.each(['/api/admin/keys', '/api/admin/status', '/api/v1/models'])(
    'without a session %s is 401',
    async (path) => {
      const { send } = await open()
      expect(await send(path)).toMatchObject({ status: 401 })
      const headers = { cookie: 'gateway-console-1=guess' }
      expect(await send(path, { headers })).toMatchObject({ status: 401 })
    },
  )

  test('a request that no script of the page has sent is 404, even with the cookie', async () => {
    const { send, logIn } = await open()
    await logIn()
    expect(await send('/api/admin/keys')).toMatchObject({ status: 200 })
    const headers = { 'x-console': '' }
    expect(await send('/api/admin/keys', { headers })).toMatchObject({ status: 404 })
  })

  test('a name that resolves to this machine does not open the console', async () => {
    const { console: served } = await open()
    const { port } = new URL(served.link)
    const statusFor = (host: string) =>
      new Promise((resolve, reject) => {
        const request = sendRequest({ port, host: '127.0.0.1', headers: { host } }, (response) => {
          void text(response).then(() => resolve(response.statusCode), reject)
        })
        request.on('error', reject).end()
      })
    expect(await statusFor(`attacker.example:${port}`)).toBe(421)
    expect(await statusFor(`localhost:${port}`)).toBe(200)
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

  test('an error of the gateway arrives as it is, and no answer holds a secret', async () => {
    const { send, logIn } = await open()
    await logIn()
    const body = JSON.stringify({ name: '' })
    const refused = await send('/api/admin/keys', { method: 'POST', body })
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('LM-1001')
    const paths = ['status', 'requests', 'keys', 'groups', 'usage', 'audit']
    for (const path of paths) {
      const { status, text: shown } = await send(`/api/admin/${path}`)
      expect(status).toBe(200)
      expect(shown).not.toContain(masterKey)
    }
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
