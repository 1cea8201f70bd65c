import { expect, test } from 'vitest'
import { expectCommonHeaders } from '../support/contract.ts'
import { oneProvider } from '../support/gateway.ts'
import { silent } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

test('GET /health is ok without side effects', async () => {
  const { get, upstream } = await watchedGateway()
  const response = await get('/health')
  expect(response.status).toBe(200)
  expectCommonHeaders(response)
  expect(await response.json()).toEqual({ status: 'ok' })
  expect(upstream.requests).toEqual([])
})

test('GET /health needs no provider and no credential', async () => {
  const { get } = await watchedGateway('', { env: {} })
  expect(await (await get('/health')).json()).toEqual({ status: 'ok' })
  expect(await (await get('/health/providers')).json()).toEqual({ providers: {} })
  expect(await (await get('/v1/models')).json()).toEqual({ object: 'list', data: [] })
})

test('GET /health answers while every upstream is silent', async () => {
  const { get, chat, upstream, clock } = await watchedGateway()
  upstream.always(silent())
  const controller = new AbortController()
  const pending = Array.from({ length: 100 }, () =>
    chat({ model: 'm', messages: [{ role: 'user' }] }, { signal: controller.signal }),
  )
  await clock.advance(1000)
  expect((await get('/health')).status).toBe(200)
  controller.abort()
  for (const response of pending) expect((await response).status).toBe(499)
})

test('GET /health/providers reports a provider that was never probed as unknown', async () => {
  const { get, upstream, clock } = await watchedGateway(`
    ${oneProvider}
    [[providers]]
    name = "own address"
    kind = "vllm"
    base_url = "http://own.test"
  `)
  await clock.advance(600_000)
  const response = await get('/health/providers')
  expect(response.status).toBe(200)
  expectCommonHeaders(response)
  const unknown = { status: 'unknown', checked_at: null, latency_ms: null, detail: null }
  expect(await response.json()).toEqual({ providers: { p: unknown, 'own address': unknown } })
  expect(upstream.requests).toEqual([])
})
