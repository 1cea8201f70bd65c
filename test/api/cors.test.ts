import { describe, expect, test } from 'vitest'
import { completion, wholeStream } from '../support/answers.ts'
import { oneProvider } from '../support/gateway.ts'
import { keyedGateway, pricedProvider } from '../support/keyed-gateway.ts'
import { reloadingGateway } from '../support/reloading-gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const app = 'https://app.example.com'
const config = (origins: string, rest = oneProvider) =>
  `[server]\ncors_origins = ${origins}\n${rest}`
const listed = config(`["${app}", "http://localhost:5173"]`)

const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

const preflight = (origin: string, headers: Record<string, string> = {}) => ({
  method: 'OPTIONS',
  headers: { origin, 'access-control-request-method': 'POST', ...headers },
})

/** Returns the headers by which a browser decides whether a page may read the response. */
function readCorsHeaders({ headers }: Response) {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')))
}

/** Returns the names of the headers that a page may read. */
function exposed({ headers }: Response): string[] {
  return headers.get('access-control-expose-headers')?.split(', ') ?? []
}

describe('preflight requests', () => {
  const path = '/v1/chat/completions'

  test('a preflight of a listed origin is answered before authentication, with the headers that it asks for', async () => {
    const { get } = await keyedGateway(config(`["${app}"]`, pricedProvider))
    const requestedHeaders = 'authorization,content-type,x-stainless-os'
    const response = await get(
      path,
      preflight(app, { 'access-control-request-headers': requestedHeaders }),
    )
    expect(response.status).toBe(204)
    expect(await response.text()).toBe('')
    expect(readCorsHeaders(response)).toMatchObject({
      'access-control-allow-origin': app,
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-allow-headers': requestedHeaders,
      'access-control-max-age': '7200',
    })
    expect(response.headers.get('vary')).toContain('origin')
  })

  test.each(['/openai/deployments/m/chat/completions', '/v1/models', '/nowhere'])(
    'a preflight is answered on every path: %s',
    async (target) => {
      const { get } = await keyedGateway(config('["*"]', pricedProvider))
      const response = await get(
        target,
        preflight(app, { 'access-control-request-headers': 'api-key' }),
      )
      expect(response.status).toBe(204)
      expect(readCorsHeaders(response)).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-headers': 'api-key',
      })
    },
  )

  test.each([
    ['an origin that is not listed', preflight('https://other.example.com')],
    ['a listed origin in another form', preflight(`${app}:8443`)],
    ['an OPTIONS request that is not a preflight', { method: 'OPTIONS', headers: { origin: app } }],
  ])('%s is not answered as a preflight', async (_, init) => {
    const { get } = await watchedGateway(listed)
    const response = await get(path, init)
    expect(response.status).toBe(405)
    expect(response.headers.has('access-control-allow-methods')).toBe(false)
  })

  test('a preflight is a 405 while no origin is listed', async () => {
    const { get } = await watchedGateway()
    const response = await get(path, preflight(app))
    expect(response.status).toBe(405)
    expect(readCorsHeaders(response)).toEqual({})
    expect(response.headers.has('vary')).toBe(false)
  })
})

describe('answers', () => {
  test('an answer to a listed origin exposes the headers that SDKs read', async () => {
    const gateway = await keyedGateway(config(`["${app}"]`, pricedProvider))
    const key = await gateway.key({ rpm_limit: 5 })
    gateway.upstream.next(json(completion()))
    const response = await gateway.chat(request, { headers: { ...key.headers, origin: app } })
    expect(response.status).toBe(200)
    expect(response.headers.get('access-control-allow-origin')).toBe(app)
    expect(exposed(response)).toEqual(
      expect.arrayContaining([
        'x-request-id',
        'request-id',
        'retry-after',
        'x-gateway-model-used',
        'x-gateway-provider',
        'x-ratelimit-remaining-requests',
      ]),
    )
    const own = [...response.headers.keys()].filter((name) => /^x-(gateway|ratelimit)-/.test(name))
    expect(exposed(response)).toEqual(expect.arrayContaining(own))
    expect(response.headers.get('vary')).toBe('origin')
    expect(response.headers.has('access-control-allow-credentials')).toBe(false)
  })

  test.each([
    ['without a key', '/v1/models', 401],
    ['of no route', '/nowhere', 404],
    ['of a wrong method', '/v1/chat/completions', 405],
  ])('error answers are exposed too: %s', async (_, path, status) => {
    const { get } = await keyedGateway(config(`["${app}"]`, pricedProvider))
    const response = await get(path, { headers: { origin: app } })
    expect(response.status).toBe(status)
    expect(response.headers.get('access-control-allow-origin')).toBe(app)
    expect(exposed(response)).toContain('x-request-id')
  })

  test('a refusal by a limit exposes its headers, and so does a stream', async () => {
    const gateway = await keyedGateway(config(`["${app}"]`, pricedProvider))
    const key = await gateway.key({ rpm_limit: 1 })
    gateway.upstream.next(stream([wholeStream]))
    const headers = { ...key.headers, origin: app }
    for (const status of [200, 429]) {
      const response = await gateway.chat({ ...request, stream: true }, { headers })
      expect(response.status).toBe(status)
      await response.text()
      const own = [...response.headers.keys()].filter((name) =>
        /^(?:x-(?:gateway|ratelimit)-|x-request-id|retry-after)/.test(name),
      )
      expect(own).toContain(status === 200 ? 'x-gateway-model-used' : 'retry-after')
      expect(exposed(response)).toEqual(expect.arrayContaining(own))
    }
  })

  test('an answer to another origin is not exposed, and varies by origin in caches', async () => {
    const { get } = await watchedGateway(listed)
    for (const headers of [{ origin: 'https://other.example.com' }, { origin: 'null' }, {}]) {
      const response = await get('/health', { headers } as RequestInit)
      expect(readCorsHeaders(response)).toEqual({})
      expect(response.headers.get('vary')).toBe('origin')
    }
  })

  test('* exposes answers to every origin', async () => {
    const { get } = await watchedGateway(config('["*"]'))
    const response = await get('/health', { headers: { origin: 'https://any.example.com' } })
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
  })
})

describe('the admin API', () => {
  test.each(['/admin/keys', '/admin/keys/1?x', '/admin', '/admin/unknown'])(
    'the admin API is never exposed, not even with "*": %s',
    async (path) => {
      const { get } = await keyedGateway(config('["*"]', pricedProvider))
      for (const init of [preflight(app), { headers: { origin: app } }]) {
        const response = await get(path, init)
        expect(response.status).toBeGreaterThanOrEqual(400)
        expect(readCorsHeaders(response)).toEqual({})
      }
    },
  )
})

test('a reload changes cors_origins', async () => {
  const { get, change } = await reloadingGateway(config('[]', ''))
  const allowed = async () =>
    (await get('/health', { headers: { origin: app } })).headers.get('access-control-allow-origin')
  expect(await allowed()).toBeNull()
  await change(config(`["${app}"]`, ''))
  expect(await allowed()).toBe(app)
})
