import { expect, test } from 'vitest'
import { keyedGateway } from '../support/keyed-gateway.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

/* What agents ask for besides answers. Codex prefers a WebSocket, and goes on with POST after a 426. */

const config = `
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
models = [{ id = "m", capabilities = ["chat", "embed"] }]
`
const offer = { upgrade: 'websocket', connection: 'Upgrade', 'sec-websocket-version': '13' }
const paths = [
  '/v1/responses',
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/messages',
  '/v1/messages/count_tokens',
  '/v1/embeddings',
  '/v1/rerank',
  '/openai/deployments/m/chat/completions',
]

test.each(paths)('an offer of a WebSocket at %s is 426 that names POST', async (path) => {
  const { get, log, upstream } = await watchedGateway(config)
  const response = await get(path, { headers: offer })
  expect(response.status).toBe(426)
  expect(response.headers.get('upgrade')).toBe('HTTP/1.1')
  expect(response.headers.get('connection')).toBe('close')
  const body = await response.json()
  const said = JSON.stringify(body)
  expect(said).toContain('POST')
  expect(said).toContain('LM-1003')
  expect(upstream.requests).toHaveLength(0)
  expect(log.filter(({ message }) => message === 'no route')).toEqual([])
})

test('the answer has the form of its API', async () => {
  const { get } = await watchedGateway(config)
  const messages = await get('/v1/messages', { headers: offer })
  expect(await messages.json()).toMatchObject({ type: 'error', error: { code: 'LM-1003' } })
  const responses = await get('/v1/responses', { headers: offer })
  expect(await responses.json()).toMatchObject({ error: { code: 'LM-1003' } })
})

test('it comes before authentication, and takes nothing from a key', async () => {
  const { get } = await keyedGateway(config)
  const response = await get('/v1/responses', { headers: offer })
  expect(response.status).toBe(426)
})

test.each([
  ['a POST', { method: 'POST', headers: offer, body: '{' }, 400],
  ['another protocol', { headers: { upgrade: 'h2c' } }, 405],
  ['HEAD', { method: 'HEAD', headers: offer }, 405],
] as const)('%s with an Upgrade header is served as without it', async (_, init, status) => {
  const { get } = await watchedGateway(config)
  expect((await get('/v1/responses', init)).status).toBe(status)
})

test.each([
  ['/v1/models', 200],
  ['/health', 200],
  ['/v1/realtime', 404],
] as const)('%s, which takes no POST, answers %i', async (path, status) => {
  const { get } = await watchedGateway(config)
  expect((await get(path, { headers: offer })).status).toBe(status)
})

test('what agents ask for at their start is answered', async () => {
  const { get, log } = await keyedGateway(config)
  for (const method of ['HEAD', 'GET']) {
    expect((await get('/api/hello', { method })).status).toBe(200)
  }
  expect(log.filter(({ message }) => message === 'no route')).toEqual([])
})

test('the list of models has the member that Codex reads', async () => {
  const { get } = await watchedGateway(config)
  const listed = await get('/v1/models?client_version=0.171.0')
  expect(await listed.json()).toMatchObject({ data: [{ id: 'm' }], models: [] })
  expect(await (await get('/v1/models')).json()).not.toHaveProperty('models')
})
