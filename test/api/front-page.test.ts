import { expect, test } from 'vitest'
import { version } from '../../src/index.ts'
import { expectCommonHeaders } from '../support/contract.ts'
import { keyedGateway } from '../support/keyed-gateway.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const browser = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } }

test('GET / names the product, its version and its routes', async () => {
  const { get } = await watchedGateway()
  const response = await get('/')
  expectCommonHeaders(response)
  expect(response.status).toBe(200)
  expect(response.headers.get('vary')).toBe('accept')
  expect(await response.json()).toEqual({
    name: 'Model Gateway',
    version,
    routes: expect.arrayContaining([
      'POST /v1/chat/completions',
      'GET /v1/models/{id}',
      'GET /health',
    ]),
  })
})

test('GET / needs no key and does not mention the admin API', async () => {
  const { get } = await keyedGateway()
  const response = await get('/')
  expect(response.status).toBe(200)
  expect(await response.text()).not.toContain('admin')
})

test('a browser gets a page without resources, under a policy that forbids them', async () => {
  const { get } = await watchedGateway()
  const response = await get('/', browser)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(response.headers.get('content-security-policy')).toBe(
    "default-src 'none'; style-src 'unsafe-inline'",
  )
  expect(response.headers.get('x-frame-options')).toBe('DENY')
  const page = await response.text()
  expect(page).toContain('<code>/v1/chat/completions</code>')
  expect(page).toContain(version)
  expect(page).not.toMatch(/<script|<img|<link|src=|https?:\/\/|@import/)
})

test.each([{}, browser])('HEAD / is GET / without its body (%j)', async (init) => {
  const { get } = await watchedGateway()
  const [head, full] = [await get('/', { ...init, method: 'HEAD' }), await get('/', init)]
  expect(head.status).toBe(200)
  expect(await head.text()).toBe('')
  const length = new TextEncoder().encode(await full.text()).length
  expect(head.headers.get('content-length')).toBe(String(length))
})

test('any other method is a 405', async () => {
  const { get } = await watchedGateway()
  const response = await get('/', { method: 'POST', body: '{}' })
  expect(response.status).toBe(405)
  expect(response.headers.get('allow')).toBe('GET, HEAD')
})
